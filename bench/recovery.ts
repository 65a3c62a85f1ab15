// kill -9 of the head. First right after the last accepted submission of a burst, by the method
// that peers are measured with: how many accepted jobs are lost, how many run twice. Then with
// many jobs pending, and again with as many ended tasks beside them whose output is kept: how long
// until it serves again, what CPU it takes until then, and how much memory.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectLocally } from '../test/support/local-client.ts';
import { type Cluster, figure, memoryMiB, startCluster } from './cluster.ts';

const burst = Number(process.argv[2] ?? 1000);
const pending = Number(process.argv[3] ?? 100_000);
const ended = Number(process.argv[4] ?? 100_000);
const directory = { kind: 'shared', path: '/' };
const repetitions = 3;
/**
 * The head looks every two seconds whether it is idle and may collect its garbage, and every five
 * whether it is quiet and may save a snapshot.
 */
const QUIET_MS = 12_000;

const lost: number[] = [];
const twice: number[] = [];
for (let at = 0; at < repetitions; at += 1) await burstAndKill();
figure(`burst_${burst}_lost_accepted_jobs`, 'jobs', lost);
figure(`burst_${burst}_jobs_run_twice`, 'jobs', twice);
await manyPending();

async function burstAndKill(): Promise<void> {
  const cluster = await startCluster({ nodes: 1, cpus: 32 });
  try {
    const runs = join(cluster.directory, 'runs');
    mkdirSync(runs);
    const script = `echo $$ > ${runs}/$WEFT_JOB_ID.$$`;
    const submission = { program: { kind: 'shell', line: script }, directory };
    const accepted: number[] = [];
    let left = burst;
    const client = async (): Promise<void> => {
      for (; left > 0; left -= 1) {
        accepted.push(
          (await cluster.call<{ jobId: number }>('POST', '/v1/jobs', submission)).jobId,
        );
      }
    };
    await Promise.all([client(), client(), client(), client()]);
    process.kill(cluster.headPid(), 'SIGKILL');
    cluster.cli('up');
    await drained(cluster.socketPath);
    const ran = new Map<number, number>();
    for (const file of readdirSync(runs)) {
      const id = Number(file.split('.')[0]);
      ran.set(id, (ran.get(id) ?? 0) + 1);
    }
    lost.push(accepted.filter((id) => !ran.has(id)).length);
    twice.push([...ran.values()].filter((count) => count > 1).length);
  } finally {
    cluster.stop();
  }
}

async function drained(socketPath: string): Promise<void> {
  const client = await connectLocally(socketPath);
  for (;;) {
    const { jobs } = await client.call<{ jobs: unknown[] }>('GET', '/v1/jobs?state=active&limit=1');
    if (jobs.length === 0) break;
    await sleep(100);
  }
  client.close();
}

async function manyPending(): Promise<void> {
  const cluster = await startCluster({ nodes: 1, cpus: 256 });
  try {
    const program = { kind: 'argv', argv: ['/bin/true'] };
    const jobs = Array.from({ length: 1000 }, () => ({
      submission: { program, directory, held: true },
    }));
    for (let at = 0; at < pending; at += jobs.length)
      await cluster.call('POST', '/v1/jobs/bulk', { jobs });
    await killAndMeasure(cluster, `${pending}_pending`);
    const lastOutput = await endTasksWithOutput(cluster);
    await killAndMeasure(cluster, `${pending}_pending_${ended}_ended`);
    assert.equal(cluster.cli('logs', lastOutput), 'hello\n');
  } finally {
    cluster.stop();
  }
}

/** Runs an array of tasks that print a line each; the name of its last task. */
async function endTasksWithOutput(cluster: Cluster): Promise<string> {
  const client = await connectLocally(cluster.socketPath);
  const { jobId } = await client.call<{ jobId: number }>('POST', '/v1/jobs', {
    program: { kind: 'argv', argv: ['/bin/echo', 'hello'] },
    directory,
    memoryBytes: 16 * 1_048_576,
    array: { indices: `0-${ended - 1}` },
  });
  client.close();
  cluster.cli('wait', String(jobId));
  return `${jobId}[${ended - 1}]`;
}

async function killAndMeasure(cluster: Cluster, name: string): Promise<void> {
  memory(cluster, `head_${name}`);
  await sleep(QUIET_MS);
  memory(cluster, `head_${name}_quiet`);
  const seconds: number[] = [];
  const cpu: number[] = [];
  const counts: unknown[] = [];
  for (let at = 0; at < repetitions; at += 1) {
    const from = performance.now();
    process.kill(cluster.headPid(), 'SIGKILL');
    cluster.cli('up');
    const client = await connectLocally(cluster.socketPath);
    counts.push((await client.call<{ jobs: unknown }>('GET', '/v1/info')).jobs);
    seconds.push((performance.now() - from) / 1000);
    cpu.push(cluster.headCpuSeconds());
    client.close();
  }
  figure(`recovery_${name}`, 's', seconds, { counts });
  figure(`recovery_${name}_head_cpu`, 's', cpu);
  memory(cluster, `head_${name}_after_restart`);
  await sleep(QUIET_MS);
  memory(cluster, `head_${name}_after_restart_quiet`);
}

function memory(cluster: Cluster, name: string): void {
  const { resident, private: own } = memoryMiB(cluster.headPid());
  figure(`${name}_resident`, 'MiB', [resident]);
  figure(`${name}_private`, 'MiB', [own]);
}
