// `weft down`: stops the cluster of `weft up`. What runs is put back to the queue first.

import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  unlinkSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobView } from '../../api/jobs.ts';
import { plural } from '../../base/plural.ts';
import type { Config } from '../../config/config.ts';
import { fileProblem, isSystemError } from '../../config/file-problem.ts';
import type { Api } from '../../connect/api.ts';
import { isCopied } from '../../connect/origin.ts';
import { endProcess, liveMarks, markOf, removeMark } from '../../connect/process-file.ts';
import { Failure, usage } from '../../model/failure.ts';
import type { Context } from '../context.ts';
import { DOWN_REASON, LocalCluster } from '../daemons/local-cluster.ts';
import { type LocalPaths, SENT_FOLDER } from '../daemons/local-paths.ts';
import { defineVerb } from '../verb.ts';

interface Options {
  readonly clean?: boolean;
  readonly yes?: boolean;
  readonly now?: boolean;
}

/** A daemon that does not stop within this time is killed; the journals make that safe. */
const STOP_MAX_MS = 10_000;
const POLL_MS = 50;

export const verb = defineVerb<Options>({
  define(command) {
    command.option('--clean', 'also remove its state: queue, history, logs');
    const yes = 'with --clean: do not ask whether what would be lost may go';
    command.option('-y, --yes', `${yes}; needed where no terminal can ask`);
    command.option('--now', 'end running jobs at once, without the kill grace');
  },
  async run({ context, options }) {
    const config = await context.configOrDefaults();
    const cluster = new LocalCluster(context, config);
    if (!existsSync(cluster.paths.directory)) {
      context.print(`There is no cluster in ${cluster.paths.directory}.`);
      return 0;
    }
    if (options.clean && !options.yes && !(await mayGo(context, cluster))) return 1;
    cluster.paths.make('own');
    const unlock = await cluster.lock();
    cluster.endKeeping();
    try {
      if (cluster.isRunning('head')) await putBack(context, cluster, { config, options });
      await stopAll(context, cluster);
    } finally {
      unlock();
    }
    if (options.clean) clean(context, cluster.paths);
    return 0;
  },
});

/** Asks the user at the terminal before jobs and records are lost for ever. */
async function mayGo({ terminal }: Context, cluster: LocalCluster): Promise<boolean> {
  const loss = await lossOf(cluster);
  if (loss === null) return true;
  const { directory } = cluster.paths;
  if (terminal.ask === undefined) {
    throw usage(`this would remove ${loss} in ${directory}; add --yes if all of it may go`);
  }
  const question = `This removes ${loss} in ${directory}. Go on? [y/N] `;
  return /^y(es)?$/i.test((await terminal.ask(question)).trim());
}

/** What `--clean` takes away, for people; null: nothing that anybody would miss. */
async function lossOf(cluster: LocalCluster): Promise<string | null> {
  if (!existsSync(cluster.paths.head)) return null;
  const unknown = 'the queue, the history and the output of all jobs';
  if (!cluster.isRunning('head')) return unknown;
  const api = cluster.connect();
  try {
    const { jobs } = await api.call('listJobs', { query: { state: 'active', limit: ROWS_MAX } });
    const { jobs: all } = await api.call('history', { query: { limit: ROWS_MAX } });
    if (all.length === 0 && jobs.length === 0) return null;
    const active =
      jobs.length === 0
        ? ''
        : `${counted(jobs.length)} that ${jobs.length === 1 ? 'waits or runs' : 'wait or run'}, and `;
    return `${active}the records and output of ${counted(all.length)}`;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return unknown;
  } finally {
    api.close();
  }
}

const ROWS_MAX = 1000;

function counted(count: number): string {
  return count < ROWS_MAX ? plural(count, 'job') : `${ROWS_MAX} jobs or more`;
}

/** Drains the nodes and requeues what runs: nothing is lost, and nothing counts as a crash. */
async function putBack(
  context: Context,
  cluster: LocalCluster,
  { config, options }: { config: Config; options: Options },
): Promise<void> {
  if (options.clean || options.now) return;
  const api = cluster.connect();
  try {
    const { nodes } = await api.call('listNodes');
    for (const { name, drained } of nodes) {
      if (drained === null) {
        await api.call('drainNode', { params: { name }, body: { reason: DOWN_REASON } });
      }
    }
    const running = await runningJobs(api);
    for (const { id } of running) await requeue(context, api, String(id));
    if (running.length > 0) {
      const what =
        running.length === 1 ? '1 running job returns' : `${running.length} running jobs return`;
      context.print(`${what} to the queue and will start again after the next \`weft up\`.`);
      await untilIdle(api, config.number('head.kill_grace') + 5000);
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    context.note(`the head cannot be asked to stop: ${error.message}`);
  } finally {
    api.close();
  }
}

async function runningJobs(api: Api): Promise<JobView[]> {
  const { jobs } = await api.call('listJobs', { query: { state: 'active', limit: 1000 } });
  return jobs.filter(({ taskCounts }) =>
    ['starting', 'running', 'suspended'].some((state) => (taskCounts[state] ?? 0) > 0),
  );
}

async function requeue(context: Context, api: Api, id: string): Promise<void> {
  try {
    await api.call('requeueJob', { params: { id } });
  } catch (error) {
    // It may have ended since it was listed; otherwise its node reports it lost at the next start.
    if (!(error instanceof Failure)) throw error;
    context.note(`job ${id}: ${error.message}`);
  }
}

async function untilIdle(api: Api, limitMs: number): Promise<void> {
  const until = performance.now() + limitMs;
  for (;;) {
    const { nodes } = await api.call('listNodes');
    if (nodes.every(({ running }) => running.length === 0) || performance.now() > until) return;
    await sleep(POLL_MS);
  }
}

async function stopAll(context: Context, cluster: LocalCluster): Promise<void> {
  const { paths } = cluster;
  const daemons = paths.daemons().filter((daemon) => cluster.isRunning(daemon));
  // Agents first, so that the head still hears the last of them; USR2 ends what a node still runs.
  const nodes = daemons.filter((daemon) => daemon !== 'head');
  await stop(context, paths, nodes, 'SIGUSR2');
  await stopLaunchers(paths);
  await stop(context, paths, daemons.includes('head') ? ['head'] : [], 'SIGTERM');
  context.print(daemons.length === 0 ? 'The cluster was not running.' : 'The cluster is stopped.');
}

/** Several nodes may have their agents in one process: it is asked once. */
async function stop(
  context: Context,
  paths: LocalPaths,
  daemons: readonly string[],
  signal: NodeJS.Signals,
): Promise<void> {
  const files = daemons.map((daemon) => paths.mark(daemon));
  const ends = [...liveMarks(files).values()].map(async (mark) => {
    const how = await endProcess(mark, { signal, graceMs: STOP_MAX_MS });
    if (how === 'ended') return;
    const who = signal === 'SIGTERM' ? 'the head' : 'an agent';
    context.note(`${who} (process ${mark.pid}) did not stop and was killed`);
  });
  await Promise.all(ends);
  for (const file of files) removeMark(file);
}

/** Launchers outlive their agents by design; here nobody will come back to them soon. */
async function stopLaunchers(paths: LocalPaths): Promise<void> {
  const below = path.join(paths.directory, 'nodes') + path.sep;
  const found = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const launchers = found.filter((pid) => {
    const words = commandLine(pid);
    return words.some((word) => word.startsWith(below) && word.endsWith('/launcher.sock'));
  });
  await Promise.all(
    launchers.map(async (pid) => {
      const mark = markOf(Number(pid));
      if (mark !== null) await endProcess(mark, { signal: 'SIGTERM', graceMs: 1000 });
    }),
  );
}

function commandLine(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return []; // Ended meanwhile.
  }
}

/** What launchers have noted in shared memory is of no use without their directories. */
function removeEnds(nodes: string): void {
  for (const node of existsSync(nodes) ? readdirSync(nodes) : []) {
    // They are the original's.
    if (isCopied(path.join(nodes, node), null)) continue;
    const lock = path.join(nodes, node, 'launcher.sock.lock');
    const secret = existsSync(lock) ? readFileSync(lock, 'latin1') : '';
    if (/^[0-9a-f]{32}$/.test(secret)) rmSync(`/dev/shm/weft-ends-${secret}`, { force: true });
  }
}

/** Removes only what a cluster makes: the directory may be one that somebody uses otherwise too. */
function clean(context: Context, paths: LocalPaths): void {
  removeEnds(path.join(paths.directory, 'nodes'));
  const made = ['head', SENT_FOLDER, 'nodes', 'agents', 'run', 'cluster.json'];
  const staying = [...made.map((name) => path.join(paths.directory, name)), paths.socket].flatMap(
    removeWhole,
  );
  const left = readdirSync(paths.directory);
  if (left.length === 0) staying.push(...removeEmpty(paths.directory));
  const kept = left.length === 0 ? '' : `; kept ${left.join(', ')}`;
  context.print(`Removed its state in ${paths.directory}${kept}.`);
  for (const { file, why } of staying) context.note(`${file} itself stays: ${why}`);
}

/** What could not be removed, and why, for people. */
interface Staying {
  readonly file: string;
  readonly why: string;
}

/** Removes a file or a folder with all in it. A folder that is a mount point stays, empty. */
function removeWhole(file: string): Staying[] {
  try {
    rmSync(file, { recursive: true, force: true });
    return [];
  } catch {
    // It gives up at the first that stays, and does not say why: the rest goes one by one.
  }
  const isFolder = lstatSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
  const staying = isFolder ? entriesOf(file).flatMap(removeWhole) : [];
  return staying.length > 0 ? staying : removeOne(file, isFolder ? rmdirSync : unlinkSync);
}

/** Removes a folder with nothing in it. */
function removeEmpty(folder: string): Staying[] {
  return removeOne(folder, rmdirSync);
}

function removeOne(file: string, remove: (file: string) => void): Staying[] {
  try {
    remove(file);
    return [];
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === 'ENOENT') return [];
    return [{ file, why: error.code === 'EBUSY' ? 'it is a mount point' : fileProblem(error) }];
  }
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => path.join(folder, name));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return []; // Why it stays is told by its own removal.
  }
}
