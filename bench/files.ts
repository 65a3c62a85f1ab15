// Files in and out of a cluster, beside what else moves them in the same minutes: a large file,
// many small ones, and the memory that a very long one costs.
// `node bench/files.ts [REPETITIONS [large] [many] [sparse]]`; without a name all of them.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cluster, cpuSeconds, figure, memoryMiB, startCluster } from './cluster.ts';
import { changeAll, makeLarge, makeMany, makeSparse } from './files/data.ts';
import { isInstalled, RsyncDaemon, serveFile, timeLine } from './files/peers.ts';

const MIB = 1_048_576;
const LARGE_BYTES = 1024 * MIB;
const MANY = 10_000;
const MANY_BYTES = 4096;
const SPARSE_BYTES = 3 * 1024 * MIB;

const repetitions = Number(process.argv[2] ?? 3);
const parts = process.argv.slice(3);
const wants = (part: string): boolean => parts.length === 0 || parts.includes(part);
const scratch = mkdtempSync(join(tmpdir(), 'weft-files-'));
const large = join(scratch, 'large');
const many = join(scratch, 'many');
const sparse = join(scratch, 'sparse');

const cluster = await startCluster({
  nodes: 1,
  cpus: 4,
  environment: { WEFT_HEAD_ARCHIVE_DEFAULT: '8G' },
});
try {
  console.error(`# load ${loadavg()[0]}`);
  if (wants('large')) {
    makeLarge(large, LARGE_BYTES);
    await measure('large', large, 'MiB', LARGE_BYTES / MIB);
    await curl();
  }
  if (wants('many')) {
    makeMany(many, MANY, MANY_BYTES);
    await measure('many', many, 'files', MANY);
  }
  if (wants('sparse')) memory();
  console.error(`# load ${loadavg()[0]}`);
} finally {
  cluster.stop();
  rmSync(scratch, { recursive: true, force: true });
}

/** In: to a job that has them; out: from its node to the head, and from there to here. */
async function measure(name: string, place: string, unit: string, amount: number): Promise<void> {
  const rates = { in: [] as number[], kept: [] as number[], pulled: [] as number[] };
  const rsync = { in: [] as number[], out: [] as number[] };
  const tar: number[] = [];
  const cpu: number[] = [];
  const daemon = isInstalled('rsync')
    ? await RsyncDaemon.start(scratch, join(scratch, 'daemon'))
    : null;
  try {
    for (let at = 0; at < repetitions; at += 1) {
      changeAll(place);
      const before = ownCpu();
      rates.in.push(
        amount / took(() => weft('run', '--wait', '--out', 'none', '--in', place, '--', 'true')),
      );
      cpu.push(ownCpu() - before);
      const keep = ['run', '--wait', '--private', '--', 'cp', '-r', place, 'kept'];
      changeAll(place);
      rates.kept.push(amount / took(() => weft(...keep)));
      const job = lastJob();
      const here = join(scratch, 'here');
      rates.pulled.push(amount / took(() => weft('pull', job, '--save-dir', here)));
      rmSync(here, { recursive: true });
      if (daemon !== null) {
        const there = daemon.url('x/');
        rsync.in.push(amount / (await timeLine(`rsync -a ${place} ${there}`)));
        rsync.out.push(amount / (await timeLine(`rsync -a ${there} ${here}`)));
        for (const folder of [here, join(scratch, 'daemon', 'x')])
          rmSync(folder, { recursive: true });
      }
      mkdirSync(here);
      const through = `tar c -C ${scratch} ${name} | tar x -C ${here}`;
      tar.push(amount / (await timeLine(through)));
      rmSync(here, { recursive: true });
    }
  } finally {
    daemon?.stop();
  }
  const per = `${unit}/s`;
  figure(`${name}_in`, per, rates.in, { what: 'submitted, on the node, done', durable: true });
  figure(`${name}_in_cpu`, 's', cpu, { what: 'head and agent' });
  figure(`${name}_kept`, per, rates.kept, {
    what: 'copied by a job, kept on the head',
    durable: true,
  });
  figure(`${name}_pulled`, per, rates.pulled, { what: 'weft pull' });
  figure(`${name}_in`, per, rsync.in, { peer: 'rsync daemon' });
  figure(`${name}_out`, per, rsync.out, { peer: 'rsync daemon' });
  figure(`${name}_through`, per, tar, { peer: 'tar | tar' });
}

/** Seconds of cores that head and agent have taken: on a busy machine they alone say something. */
function ownCpu(): number {
  return cpuSeconds(cluster.headPid()) + cpuSeconds(agentPid(cluster));
}

/** What a file costs that is only fetched and verified. */
async function curl(): Promise<void> {
  if (!isInstalled('curl')) return;
  const { url, server } = await serveFile(large);
  const rates: number[] = [];
  for (let at = 0; at < repetitions; at += 1) {
    rates.push(LARGE_BYTES / MIB / (await timeLine(`curl -s ${url} | sha256sum`)));
  }
  server.close();
  figure('large_out', 'MiB/s', rates, { peer: 'curl | sha256sum' });
}

/** By how much head and agent have grown at most while a file passed that is larger than they. */
function memory(): void {
  makeSparse(sparse, SPARSE_BYTES);
  const pids = { head: cluster.headPid(), agent: agentPid(cluster) };
  for (const pid of Object.values(pids)) resetPeak(pid);
  const before = peaks(pids);
  weft('run', '--wait', '--in', sparse, '--out', '*', '--', 'sh', '-c', 'mv sparse other');
  weft('pull', lastJob(), '--save-dir', join(scratch, 'here'));
  const after = peaks(pids);
  for (const name of ['head', 'agent'] as const) {
    const now = memoryMiB(pids[name]).resident;
    figure(`sparse_${name}_grows`, 'MiB', [after[name] - before[name]], { now: Math.round(now) });
  }
}

function weft(...words: string[]): void {
  cluster.cli(...words);
}

function lastJob(): string {
  const [job] = JSON.parse(cluster.cli('jobs', '--all', '-o', 'json')) as { id: number }[];
  return String(job?.id);
}

function took(work: () => void): number {
  const from = performance.now();
  work();
  return (performance.now() - from) / 1000;
}

function agentPid({ directory }: Cluster): number {
  const [mark = ''] = readdirSync(join(directory, 'run')).filter((name) =>
    /^(?!head|up).*\.pid$/.test(name),
  );
  return (JSON.parse(readFileSync(join(directory, 'run', mark), 'utf8')) as { pid: number }).pid;
}

/** Peak of resident memory, counted anew from now on (proc_pid_clear_refs(5)). */
function resetPeak(pid: number): void {
  execFileSync('sh', ['-c', `echo 5 > /proc/${pid}/clear_refs`]);
}

function peaks(pids: { head: number; agent: number }): { head: number; agent: number } {
  const peak = (pid: number): number => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
  };
  return { head: peak(pids.head), agent: peak(pids.agent) };
}
