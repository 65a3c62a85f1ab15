// Functions on workers of a pool, end to end: a program, the head, two workers. Prints how many
// calls a second, round trips, large values, the time to a first result, and how soon a killed
// worker is known; beside ProcessPoolExecutor of Python in the same minutes. `functions.ts CALLS`

import { execFileSync } from 'node:child_process';
import { type Cluster as Client, call, connect, type Pool, WorkerLost } from '../src/library.ts';
import { CALL_ROLES, CallCosts, type CallCpu } from './call-costs.ts';
import { figure, startCluster } from './cluster.ts';

const calls = Number(process.argv[2] ?? 20_000);
const LARGE_BYTES = 1_048_576;
const LARGE_CALLS = 64;
const MIB = 1_048_576;

function same<T>(value: T): T {
  return value;
}

function seconds(since: number): number {
  return (performance.now() - since) / 1000;
}

async function drain(pool: Pool, count: number, inFlight: number): Promise<number> {
  const from = performance.now();
  let sum = 0;
  const numbers = Array.from({ length: count }, (_, at) => at);
  for await (const value of pool.map(same<number>, numbers, { inFlight, ordered: false }))
    sum += value;
  if (sum !== (count * (count - 1)) / 2) throw new Error(`a sum of ${sum} after ${count} calls`);
  return count / seconds(from);
}

/** A new closure for each item: how long the program stands still, and until all are back. */
async function closures(pool: Pool, count: number): Promise<string> {
  const factor = 3;
  const from = performance.now();
  const before = process.cpuUsage();
  const runs = Array.from({ length: count }, (_, at) => pool.run(() => at * factor));
  const sent = seconds(from);
  const { user, system } = process.cpuUsage(before);
  // On a busy machine the time of the cores alone says something.
  const cpu = (user + system) / 1e6;
  const results = await Promise.all(runs);
  if (results.some((result, at) => result !== at * factor)) throw new Error('a wrong result');
  const all = `${seconds(from).toFixed(2)} s in all`;
  return `${sent.toFixed(2)} s to send (${cpu.toFixed(2)} s of cpu), ${all}`;
}

async function roundTrips(pool: Pool, count: number): Promise<string> {
  const took: number[] = [];
  for (let at = 0; at < count; at += 1) {
    const from = performance.now();
    await pool.run(same<number>, at);
    took.push(performance.now() - from);
  }
  took.sort((a, b) => a - b);
  const at = (share: number) => (took[Math.floor(took.length * share)] ?? 0).toFixed(2);
  return `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms`;
}

async function largeValues(pool: Pool, count: number): Promise<number> {
  const value = new Uint8Array(LARGE_BYTES).fill(7);
  const from = performance.now();
  await Promise.all(
    Array.from({ length: count }, async () => {
      const back = await pool.run(same<Uint8Array>, value);
      if (back.length !== LARGE_BYTES) throw new Error(`${back.length} bytes came back`);
    }),
  );
  return (2 * count * LARGE_BYTES) / MIB / seconds(from);
}

/** From the kill within the call until the caller knows, by the clock that both share. */
async function killToKnown(pool: Pool, time: number): Promise<number> {
  // An object is part of its function's code, a number goes with the call. Another function each
  // time: one that kills its process again and again is not run any more.
  const own = { time };
  const work = pool.submit(() => {
    call.progress(own.time);
    call.progress(performance.timeOrigin + performance.now());
    process.kill(process.pid, 'SIGKILL');
  });
  const killed = (async () => {
    for await (const at of work.progress) if (at !== time) return at as number;
    throw new Error('it never said when');
  })();
  try {
    await work;
  } catch (error) {
    const knownAt = performance.timeOrigin + performance.now();
    if (error instanceof WorkerLost) return knownAt - (await killed);
    throw error;
  }
  throw new Error('a killed worker gave a result');
}

function processPool(count: number): number {
  const program = `
import time
from concurrent.futures import ProcessPoolExecutor
def same(x): return x
with ProcessPoolExecutor(2) as pool:
    pool.submit(same, 1).result()
    t = time.perf_counter()
    for f in [pool.submit(same, i) for i in range(${count})]: f.result()
    print(${count} / (time.perf_counter() - t))
`;
  return Number(execFileSync('/usr/bin/python3', ['-c', program], { encoding: 'utf8' }));
}

const cluster = await startCluster({ nodes: 2, cpus: 1 });
try {
  const environment = { ...process.env, WEFT_SOCKET: cluster.socketPath };
  const from = performance.now();
  const client: Client = await connect({ environment });
  const pool = await client.pool({ workers: 2, memory: '256M' });
  await pool.run(same<number>, 1);
  console.log(
    `connect, pool of 2 workers and first result: ${(seconds(from) * 1000).toFixed(0)} ms`,
  );
  await drain(pool, 2000, 200);
  const costs = new CallCosts(cluster);
  const spent: CallCpu[] = [];
  const rates: number[] = [];
  for (let round = 1; round <= 3; round += 1) {
    const before = costs.now();
    const rate = await drain(pool, calls, 1000);
    const cost = costs.since(before, calls);
    spent.push(cost);
    rates.push(rate);
    const peer = processPool(calls);
    const ratio = (rate / peer).toFixed(2);
    const each = CALL_ROLES.map((role) => `${role} ${cost[role].toFixed(1)}`).join(', ');
    console.log(
      `round ${round}: ${rate.toFixed(0)} calls/s, CPU us a call: ${each}; ` +
        `ProcessPoolExecutor(2) ${peer.toFixed(0)}; ${ratio} of it`,
    );
  }
  figure('calls_per_s', 'calls/s', rates);
  for (const role of CALL_ROLES)
    figure(
      `calls_${role}_cpu`,
      'us/call',
      spent.map((cost) => cost[role]),
    );
  console.log(`one call after the other: ${await roundTrips(pool, 500)}`);
  console.log(`10000 closures: ${await closures(pool, 10_000)}`);
  const large: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const before = costs.now();
    large.push(await largeValues(pool, LARGE_CALLS));
    const cost = costs.since(before, LARGE_CALLS);
    const each = CALL_ROLES.map((role) => `${role} ${(cost[role] / 1000).toFixed(2)}`).join(', ');
    console.log(`1 MiB there and back: CPU ms a call: ${each}`);
  }
  figure('calls_1_mib', 'MiB/s', large, { what: `there and back, ${LARGE_CALLS} calls` });
  const known: number[] = [];
  for (let time = 0; time < 9; time += 1) known.push(await killToKnown(pool, time));
  known.sort((a, b) => a - b);
  console.log(`a killed worker is known after ${known.map((ms) => ms.toFixed(0)).join(', ')} ms`);
  await pool.close();
  client.close();
} finally {
  cluster.stop();
}
