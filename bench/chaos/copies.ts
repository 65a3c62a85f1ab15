// A small cluster of `weft up` whose folder is copied while it runs; the copy is started and
// stopped, or only stopped. The original goes on as if nothing were.

import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../test/e2e/support/hosts.ts';
import { LocalCluster, runProgram } from '../../test/e2e/support/local-cluster.ts';
import type { CopyTrial } from './evidence.ts';
import type { Rest } from './faults.ts';

const UP = ['--nodes', '2', '--listen', 'none'];
const DAEMONS = ['head', 'n1', 'n2'];
const TASK =
  'echo $$ >> NAME; until [ -e go-NAME ]; do sleep 0.1; done; echo $$ >> ended-NAME; exit 7';
const LINE_MAX = 200;

/** Until the run is over; each trial some time after the last. */
export async function copyCluster(
  restMs: number,
  { rest, isOver }: { readonly rest: Rest; readonly isOver: () => boolean },
): Promise<CopyTrial[]> {
  const trials: CopyTrial[] = [];
  const cluster = await LocalCluster.start(...UP);
  try {
    for (let at = 1; !isOver(); at += 1) {
      await rest(restMs);
      if (!isOver()) trials.push(await tryCopy(cluster, at));
    }
  } finally {
    await cluster.close();
  }
  return trials;
}

async function tryCopy(cluster: LocalCluster, number: number): Promise<CopyTrial> {
  const at = Date.now();
  const name = `task${number}`;
  const id = await cluster.ok('run', '--', TASK.replaceAll('NAME', name));
  const [pid = ''] = await until(`${name} runs`, () => {
    const lines = cluster.lines(name);
    return lines.length > 0 ? lines : undefined;
  });
  const pids = DAEMONS.map((daemon) => cluster.pidOf(daemon));
  const copy = join(cluster.directory, 'copy');
  execFileSync('cp', ['-a', cluster.state, copy]);
  // Every other time the copy is stopped as it is, which names the original's processes.
  const words = number % 2 === 0 ? [['down']] : [['up', ...UP], ['down']];
  const said: string[] = [];
  for (const word of words) said.push(await inCopy(cluster, copy, word));
  const replaced = DAEMONS.filter((daemon, which) => {
    return cluster.pidOf(daemon) !== pids[which] || !isAlive(pids[which] as number);
  });
  execFileSync('touch', [join(cluster.work, `go-${name}`)]);
  await cluster.weft('wait', id);
  const { outcome } = await cluster.job(id);
  const { tasks } = await cluster.client.call<History>('GET', '/v1/history?tasks=true&limit=500');
  const starts = tasks.filter((task) => task.id === id).length;
  const isWhole = cluster.lines(`ended-${name}`).includes(pid);
  rmSync(copy, { recursive: true, force: true });
  const ended = `${outcome?.kind} ${outcome?.exit?.code}${isWhole ? '' : ', its process was ended'}`;
  return { at, said, replaced, starts, ended };
}

interface History {
  readonly tasks: readonly { readonly id: string }[];
}

/** Exit code and words. */
async function inCopy(cluster: LocalCluster, copy: string, words: readonly string[]) {
  const program = join(import.meta.dirname, '..', '..', 'bin', 'weft.mjs');
  const { code, out, error } = await runProgram(
    [process.execPath, program, ...words, '--dir', copy],
    { cwd: cluster.work, env: { ...cluster.env, WEFT_DIR: undefined } },
  );
  return `${words[0]}: ${code}: ${(out + error).trim().replaceAll('\n', '; ').slice(0, LINE_MAX)}`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
