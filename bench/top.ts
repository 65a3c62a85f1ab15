// `weft top` beside a long queue: what share of a cpu it takes itself, and what it costs the head,
// once its first picture is there; at its usual interval, and at one so short that its own limit
// holds it back. Usage:
// top.ts [JOBS] [SECONDS].

import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TypedTerminal } from '../test/support/typed-terminal.ts';
import { type Cluster, cpuSeconds, figure, startCluster } from './cluster.ts';

const [jobs = 10_000, seconds = 60] = process.argv.slice(2).map(Number);
const NODES = 4;
const BULK_MAX = 1000;
const HELD = { program: { kind: 'argv', argv: ['true'] }, held: true };

const cluster = await startCluster({ nodes: NODES, cpus: 2 });
try {
  await fill(cluster);
  const headBefore = await shareOf(cluster.headPid());
  for (const interval of ['2s', '0.1s']) {
    const { own, head } = await measureTop(cluster, interval);
    const load = loadavg().map((one) => Math.round(one * 10) / 10);
    const more = { jobs, interval, seconds, load };
    figure('top_cpu', '% of a cpu', [own * 100], more);
    figure('top_head_cpu', '% of a cpu', [Math.max(0, head - headBefore) * 100], more);
  }
} finally {
  cluster.stop();
}

async function fill({ call }: Cluster): Promise<void> {
  for (let left = jobs; left > 0; left -= BULK_MAX) {
    const some = Array.from({ length: Math.min(left, BULK_MAX) }, () => ({ submission: HELD }));
    await call('POST', '/v1/jobs/bulk', { jobs: some });
  }
}

async function measureTop({ directory, headPid }: Cluster, interval: string) {
  const weft = join(import.meta.dirname, '..', 'bin', 'weft.mjs');
  const pidFile = join(directory, 'top.pid');
  const command = `${process.execPath} ${weft} --dir ${directory} top -n ${interval}`;
  const terminal = new TypedTerminal(`echo $$ > ${pidFile}; exec ${command}`, {
    cwd: directory,
    env: process.env,
    size: { columns: 120, rows: 40 },
  });
  try {
    await terminal.shows(/^Nodes: 4 up/m);
    const pid = Number(readFileSync(pidFile, 'utf8'));
    const [own, head] = await Promise.all([shareOf(pid), shareOf(headPid())]);
    terminal.type('q');
    await terminal.ended();
    return { own, head };
  } finally {
    terminal.kill();
  }
}

/** CPU time over time that passes. */
async function shareOf(pid: number): Promise<number> {
  const [used, begun] = [cpuSeconds(pid), performance.now()];
  await sleep(seconds * 1000);
  return (cpuSeconds(pid) - used) / ((performance.now() - begun) / 1000);
}
