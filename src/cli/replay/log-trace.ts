// The cluster's own history as a workload, and its nodes as the machine.

import type { HistoryJob, HistoryReply, HistoryTask } from '../../api/history.ts';
import {
  inOrder,
  type NodeSize,
  type ReplayJob,
  type Workload,
} from '../../core/replay/machine.ts';
import type { Api } from '../connection/api.ts';

/** Jobs of a page: the ended starts of all their tasks must fit into one answer. */
const PAGE = 1000;

export interface Log {
  readonly workload: Workload;
  readonly nodes: readonly NodeSize[];
}

/** Everything that has run and ended, as far as the history goes back. */
export async function readLog(api: Api, machine: readonly NodeSize[] | null): Promise<Log> {
  const nodes = machine ?? (await nodesOf(api));
  const ignoresMemory = nodes.some((node) => node.memoryBytes === null);
  const jobs: ReplayJob[] = [];
  let incomplete = 0;
  let tooLarge = 0;
  for await (const { job, task } of recordsOf(api)) {
    const made = jobOf(ignoresMemory ? { ...job, memoryBytes: 0 } : job, task);
    if (made === null) incomplete += 1;
    else if (!canHold(nodes, made)) tooLarge += 1;
    else jobs.push(made);
  }
  return { nodes, workload: { jobs: inOrder(jobs.reverse()), dropped: { incomplete, tooLarge } } };
}

async function nodesOf(api: Api): Promise<NodeSize[]> {
  const { nodes } = await api.call('listNodes');
  return nodes.map(({ total }) => ({ cpuCount: total.cpuCount, memoryBytes: total.memoryBytes }));
}

/** The last start of each task, newest first. */
async function* recordsOf(api: Api): AsyncIterable<{ job: HistoryJob; task: HistoryTask }> {
  let before: number | undefined;
  for (;;) {
    const query = { before, limit: PAGE, tasks: true };
    const page: HistoryReply = await api.call('history', { query });
    const jobs = new Map(page.jobs.map((job) => [job.jobId, job]));
    for (const task of page.tasks.toReversed()) {
      const job = jobs.get(task.jobId);
      if (job !== undefined && task.final) yield { job, task };
    }
    if (page.next === null) return;
    before = page.next;
  }
}

/** Null for what never ran. The history keeps no time limits: the run time stands for them. */
function jobOf(job: HistoryJob, task: HistoryTask): ReplayJob | null {
  if (task.startedAt === null || job.nodeCount * job.cpuCount <= 0) return null;
  const runMs = Math.max(1, task.endedAt - task.startedAt);
  return {
    id: task.index === null ? String(job.jobId) : `${job.jobId}[${task.index}]`,
    ...{ submittedAt: job.submittedAt, runMs, walltimeMs: runMs },
    processors: job.nodeCount * job.cpuCount,
    request: {
      nodeCount: job.nodeCount,
      ...{ processesPerNode: 1, exclusive: false, labels: [], nodeNames: [] },
      perNode: { cpuCount: job.cpuCount, memoryBytes: job.memoryBytes, gpuCount: 0, counted: {} },
    },
  };
}

function canHold(nodes: readonly NodeSize[], { request }: ReplayJob): boolean {
  const { cpuCount, memoryBytes } = request.perNode;
  const able = nodes.filter(
    (node) => cpuCount <= node.cpuCount && memoryBytes <= (node.memoryBytes ?? Infinity),
  );
  return able.length >= request.nodeCount;
}
