// A flood of calls of functions that do nothing: what it costs each process in CPU and in memory,
// and what submissions of jobs and other requests notice of it. `flood.ts CALLS`

import { readFileSync } from 'node:fs';
import { connect, type Pool } from '../src/library.ts';
import { type Cluster, cpuSeconds, memoryMiB, startCluster } from './cluster.ts';

const calls = Number(process.argv[2] ?? 1_000_000);
const BETWEEN_MS = 50;

type Who = readonly [name: string, pid: number];

function same<T>(value: T): T {
  return value;
}

/** The program, the head, and both processes of each worker. */
async function everybody(cluster: Cluster, pool: Pool): Promise<Who[]> {
  const workers = new Map<number, number>();
  while (workers.size < 2) {
    const ask = () => {
      const until = Date.now() + 5;
      while (Date.now() < until);
      return [process.pid, process.ppid] as const;
    };
    const pairs = await Promise.all(Array.from({ length: 20 }, () => pool.run(ask)));
    for (const [child, supervisor] of pairs) workers.set(child, supervisor);
  }
  const found: Who[] = [
    ['program', process.pid],
    ['head', cluster.headPid()],
  ];
  for (const [child, supervisor] of workers)
    found.push(['worker', supervisor], ['its child', child]);
  return found;
}

async function flood(pool: Pool, count: number): Promise<number> {
  const numbers = function* () {
    for (let at = 0; at < count; at += 1) yield at;
  };
  const from = performance.now();
  let sum = 0;
  for await (const value of pool.map(same<number>, numbers(), { inFlight: 1000, ordered: false }))
    sum += value;
  if (sum !== (count * (count - 1)) / 2) throw new Error(`a sum of ${sum} after ${count} calls`);
  return (count * 1000) / (performance.now() - from);
}

/** Asks from a process of its own: this one is busy with its calls. */
async function askMeanwhile(cluster: Cluster, isOver: () => boolean) {
  const { spawn } = await import('node:child_process');
  const file = new URL('./flood-asker.ts', import.meta.url).pathname;
  const asker = spawn(process.execPath, [file, cluster.socketPath, String(BETWEEN_MS)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  asker.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const done = new Promise((resolve) => asker.once('close', resolve));
  return async () => {
    if (!isOver()) throw new Error('asked for too early');
    asker.stdin.end();
    await done;
    return text.trim();
  };
}

function residentMiB(pid: number): number {
  return memoryMiB(pid).resident;
}

function peakMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024;
}

const cluster = await startCluster({ nodes: 2, cpus: 1 });
try {
  const client = await connect({
    environment: { ...process.env, WEFT_SOCKET: cluster.socketPath },
  });
  const pool = await client.pool({ workers: 2, memory: '256M' });
  const all = await everybody(cluster, pool);
  await flood(pool, 20_000);
  const before = all.map(([, pid]) => ({ cpu: cpuSeconds(pid), mib: residentMiB(pid) }));
  let isOver = false;
  const quiet = await askMeanwhile(cluster, () => true);
  await new Promise((resolve) => setTimeout(resolve, 5000));
  console.log(`without calls: ${await quiet()}`);
  const asked = await askMeanwhile(cluster, () => isOver);
  const rate = await flood(pool, calls);
  isOver = true;
  console.log(`with calls: ${await asked()}`);
  console.log(`${calls} calls: ${rate.toFixed(0)} calls/s`);
  for (const [at, [name, pid]] of all.entries()) {
    const { cpu, mib } = before[at] as { cpu: number; mib: number };
    const us = ((cpuSeconds(pid) - cpu) * 1e6) / calls;
    const grown = residentMiB(pid) - mib;
    console.log(
      `${name}: ${us.toFixed(1)} us of CPU a call; memory ${mib.toFixed(0)} MiB, ` +
        `grew by ${grown.toFixed(0)}, peak ${peakMiB(pid).toFixed(0)}`,
    );
  }
  await pool.close();
  client.close();
} finally {
  cluster.stop();
}
