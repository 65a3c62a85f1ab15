// The cluster's own history as a workload, and its nodes as the machine.

import type { HistoryJob, HistoryTask } from '../../../kernel/api/history.ts';
import { historyPages } from '../../../kernel/cli/jobs/history-pages.ts';
import type { Api } from '../../../kernel/connect/api.ts';
import { inOrder, type NodeSize, type ReplayJob, type Workload } from '../core/machine.ts';

export interface Log {
  readonly workload: Workload;
  readonly nodes: readonly NodeSize[];
}

/** What the history does not keep, or one queue for all cannot show. */
export const UNHEEDED = ['partitions', 'labels', 'gpus', 'whole nodes', 'reservations'] as const;

/** Everything that has run and ended, as far as the history goes back. */
export async function readLog(api: Api, machine: readonly NodeSize[] | null): Promise<Log> {
  const nodes = machine ?? (await nodesOf(api));
  const ignoresMemory = nodes.some((node) => node.memoryBytes === null);
  const jobs: ReplayJob[] = [];
  const records = await recordsOf(api);
  let incomplete = 0;
  let tooLarge = 0;
  for (const { job, task } of records) {
    const made = jobOf(ignoresMemory ? { ...job, memoryBytes: 0 } : job, task);
    if (made === null) incomplete += 1;
    else if (!canHold(nodes, made)) tooLarge += 1;
    else jobs.push(made);
  }
  const dropped = { incomplete, tooLarge };
  return { nodes, workload: { jobs: inOrder(jobs), dropped, guessedLimits: 0 } };
}

async function nodesOf(api: Api): Promise<NodeSize[]> {
  const { nodes } = await api.call('listNodes');
  return nodes.map(({ total }) => ({ cpuCount: total.cpuCount, memoryBytes: total.memoryBytes }));
}

interface LogRecord {
  readonly job: HistoryJob;
  readonly task: HistoryTask;
}

/** The last start of each task, by job and index. */
async function recordsOf(api: Api): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const page of historyPages(api, { tasks: true }, Infinity)) {
    const jobs = new Map(page.jobs.map((job) => [job.id, job]));
    for (const task of page.tasks) {
      const job = jobs.get(task.jobId);
      if (job !== undefined && task.final) records.push({ job, task });
    }
  }
  return records.sort(
    ({ task: a }, { task: b }) => a.jobId - b.jobId || (a.index ?? 0) - (b.index ?? 0),
  );
}

/** Null for what never ran. The run time is cut at the limit, as that of a trace is. */
function jobOf(job: HistoryJob, task: HistoryTask): ReplayJob | null {
  if (task.startedAt === null || job.nodeCount * job.cpuCount <= 0) return null;
  const elapsedMs = Math.max(1, task.endedAt - task.startedAt);
  const { walltimeMs } = job;
  return {
    id: task.index === null ? String(job.id) : task.id,
    submittedAt: job.submittedAt,
    walltimeMs,
    runMs: Math.min(elapsedMs, walltimeMs ?? elapsedMs),
    processors: job.nodeCount * job.cpuCount,
    request: {
      nodeCount: job.nodeCount,
      processesPerNode: 1,
      exclusive: false,
      labels: [],
      nodeNames: [],
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
