// Durable jobs per second with real processes: `/bin/true`, submitted one by one over the API and
// as one array, from the first submission to the last job done; before and after them, what else
// is installed here does with as many. Usage: throughput.ts [N] [agents].

import { figure, startCluster } from './cluster.ts';
import { measurePeers } from './peers.ts';

const jobs = Number(process.argv[2] ?? 10_000);
const agents = Number(process.argv[3] ?? 1);
/** Slots in all, the same for the batch systems beside it. */
const SLOTS = 256;

measurePeers(jobs);
const cluster = await startCluster({ nodes: agents, cpus: SLOTS / agents });
try {
  await single('seq', 1, Math.min(jobs, 1000));
  await single('par', 32, jobs);
  await array();
} finally {
  cluster.stop();
}
measurePeers(jobs);

/** Separate submissions, `width` at a time. */
async function single(mode: string, width: number, count: number): Promise<void> {
  const submission = body();
  const [head, agent] = [cluster.headCpuSeconds(), cluster.agentCpuSeconds()];
  const from = performance.now();
  const latencies: number[] = [];
  let lastId = 0;
  let left = count;
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const sent = performance.now();
      const reply = await cluster.call<{ jobId: number }>('POST', '/v1/jobs', submission);
      latencies.push(performance.now() - sent);
      lastId = Math.max(lastId, reply.jobId);
    }
  };
  await Promise.all(Array.from({ length: width }, client));
  const submitted = performance.now();
  await allDone();
  const seconds = (performance.now() - from) / 1000;
  const conditions = { agents, durable: true, realProcess: true, jobs: count };
  figure(`${mode}_${count}_jobs_per_s`, 'jobs/s', [count / seconds], conditions);
  figure(
    `${mode}_${count}_submits_per_s`,
    'jobs/s',
    [(count * 1000) / (submitted - from)],
    conditions,
  );
  figure(`${mode}_submit_latency`, 'ms', latencies, conditions);
  const usOf = (seconds: number): number => (seconds * 1e6) / count;
  figure(`${mode}_head_cpu_per_job`, 'us', [usOf(cluster.headCpuSeconds() - head)], conditions);
  figure(`${mode}_agent_cpu_per_job`, 'us', [usOf(cluster.agentCpuSeconds() - agent)], conditions);
}

async function array(): Promise<void> {
  const cpu = cluster.headCpuSeconds();
  const from = performance.now();
  const submission = { ...body(), array: { indices: `0-${jobs - 1}` } };
  const { jobId } = await cluster.call<{ jobId: number }>('POST', '/v1/jobs', submission);
  await waitFor(jobId);
  const seconds = (performance.now() - from) / 1000;
  const conditions = { agents, durable: true, realProcess: true, jobs };
  figure(`array_${jobs}_jobs_per_s`, 'jobs/s', [jobs / seconds], conditions);
  const us = ((cluster.headCpuSeconds() - cpu) * 1e6) / jobs;
  figure('array_head_cpu_per_job', 'us', [us], conditions);
}

function body(): object {
  return {
    program: { kind: 'argv', argv: ['/bin/true'] },
    directory: { kind: 'shared', path: '/' },
    memoryBytes: 16 * 1_048_576,
  };
}

async function waitFor(jobId: number): Promise<void> {
  const path = `/v1/jobs/${jobId}/wait?timeoutMs=600000`;
  await cluster.call('GET', path);
}

/** A job that waits for nothing but runs last: the queue is in order. Then counts must agree. */
async function allDone(): Promise<void> {
  for (;;) {
    const live = await cluster.call<{ jobs: unknown[] }>('GET', '/v1/jobs?state=active&limit=1');
    if (live.jobs.length === 0) return;
    const [job] = live.jobs as { id: number }[];
    if (job !== undefined) await waitFor(job.id);
  }
}
