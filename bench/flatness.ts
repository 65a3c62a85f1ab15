// Whether the head gets slower, larger or slower to restart as work piles up: the same 2,000 jobs
// with 1 k, 10 k and 100 k in the queue, on an empty store and on one with a million finished jobs.
// Usage: flatness.ts [finished] [depth…]

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectLocally } from '../test/support/local-client.ts';
import { type Cluster, figure, memoryMiB, startCluster } from './cluster.ts';
import { startInstantCluster } from './instant-nodes.ts';

const finished = Number(process.argv[2] ?? 1_000_000);
const given = process.argv.slice(3).map(Number);
const depths = given.length > 0 ? given : [1000, 10_000, 100_000];
const MEASURED = 2000;
const BULK = 1000;

interface Measured {
  readonly jobsPerS: number[];
  readonly restartS: number;
  readonly idleMiB: number;
}

const directory = mkdtempSync(join(tmpdir(), 'weft-bench-'));
try {
  await finishJobs(directory);
  const fresh = await measure('fresh', null);
  const old = await measure('full', directory);
  ratio('full_to_fresh_restart', old.restartS / fresh.restartS);
  ratio('full_to_fresh_idle_memory', old.idleMiB / fresh.idleMiB);
  for (const [at, rate] of old.jobsPerS.entries()) {
    ratio(`full_to_fresh_rate_${depths[at]}_queued`, rate / (fresh.jobsPerS[at] as number));
  }
} finally {
  rmSync(directory, { recursive: true });
}

/** Every one through controller, journal and history, as in a cluster's life. */
async function finishJobs(store: string): Promise<void> {
  const from = performance.now();
  const cluster = await startInstantCluster(store);
  await cluster.run(finished);
  await cluster.stop();
  const size = statSync(join(store, 'weft.db')).size / 1_048_576;
  figure('made_finished_jobs', 's', [(performance.now() - from) / 1000], { finished });
  figure('store_size', 'MiB', [size], { finished });
}

/** `store`: of a head that is stopped; moved away for good. */
async function measure(name: string, store: string | null): Promise<Measured> {
  const options = { nodes: 1, cpus: 64, ...(store === null ? {} : { store }) };
  const cluster = await startCluster(options);
  const conditions = { finished: store === null ? 0 : finished };
  try {
    // Warm: the first jobs pay for the compiler.
    await waitFor(cluster, await submit(cluster, MEASURED / 2, 0));
    await drain(cluster, true);
    const jobsPerS: number[] = [];
    for (const depth of depths) jobsPerS.push(await withQueue(cluster, name, depth, conditions));
    ratio(`${name}_slowest_to_fastest`, Math.min(...jobsPerS) / Math.max(...jobsPerS));
    const restartS = await restart(cluster);
    const idle = memoryMiB(cluster.headPid());
    figure(`${name}_restart`, 's', [restartS], conditions);
    figure(`${name}_resident_after_restart`, 'MiB', [idle.resident], conditions);
    figure(`${name}_private_after_restart`, 'MiB', [idle.private], conditions);
    return { jobsPerS, restartS, idleMiB: idle.private };
  } finally {
    cluster.stop();
  }
}

/** The measured jobs go first (nice 0), before `depth` others; all wait for the drained node. */
async function withQueue(
  cluster: Cluster,
  name: string,
  depth: number,
  conditions: object,
): Promise<number> {
  await submit(cluster, depth - (await pending(cluster)), 10);
  const last = await submit(cluster, MEASURED, 0);
  const cpu = cluster.headCpuSeconds();
  const from = performance.now();
  await drain(cluster, false);
  await waitFor(cluster, last);
  const seconds = (performance.now() - from) / 1000;
  const us = ((cluster.headCpuSeconds() - cpu) * 1e6) / MEASURED;
  await drain(cluster, true);
  const more = { ...conditions, queued: depth, durable: true, realProcess: true };
  figure(`${name}_${depth}_queued_jobs_per_s`, 'jobs/s', [MEASURED / seconds], more);
  figure(`${name}_${depth}_queued_head_cpu_per_job`, 'us', [us], more);
  return MEASURED / seconds;
}

/** The number of the last one. */
async function submit(cluster: Cluster, jobs: number, nice: number): Promise<number> {
  const program = { kind: 'argv', argv: ['/bin/true'] };
  const shared = { kind: 'shared', path: '/' };
  const wish = { submission: { program, directory: shared, memoryBytes: 16 * 1_048_576, nice } };
  let last = 0;
  for (let left = jobs; left > 0; left -= BULK) {
    const batch = Array.from({ length: Math.min(left, BULK) }, () => wish);
    const reply = await cluster.call<{ results: { value: { jobId: number } }[] }>(
      'POST',
      '/v1/jobs/bulk',
      { jobs: batch },
    );
    last = reply.results.at(-1)?.value.jobId ?? last;
  }
  return last;
}

async function pending(cluster: Cluster): Promise<number> {
  const info = await cluster.call<{ queueLength: number }>('GET', '/v1/info');
  return info.queueLength;
}

/** Whether the only node takes no new work. */
async function drain(cluster: Cluster, drained: boolean): Promise<void> {
  const { nodes } = await cluster.call<{ nodes: { name: string }[] }>('GET', '/v1/nodes');
  const path = `/v1/nodes/${nodes[0]?.name}`;
  if (drained) await cluster.call('POST', `${path}/drain`, { reason: 'bench' });
  else await cluster.call('POST', `${path}/undrain`);
}

async function waitFor(cluster: Cluster, jobId: number): Promise<void> {
  await cluster.call('GET', `/v1/jobs/${jobId}/wait?timeoutMs=600000`);
}

/** kill -9 to the first answer, in seconds. */
async function restart(cluster: Cluster): Promise<number> {
  const from = performance.now();
  process.kill(cluster.headPid(), 'SIGKILL');
  cluster.cli('up');
  const client = await connectLocally(cluster.socketPath);
  await client.call('GET', '/v1/info');
  client.close();
  return (performance.now() - from) / 1000;
}

function ratio(name: string, value: number): void {
  figure(name, 'ratio', [value]);
}
