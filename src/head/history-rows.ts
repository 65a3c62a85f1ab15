// From what the last steps changed to the rows that outlive memory.

import type { Job } from '../core/controller/jobs/facts.ts';
import type { EndedEpoch } from '../core/controller/scratch.ts';
import type { State } from '../core/controller/state.ts';
import type { JobSpec } from '../core/model/job.ts';
import type { HistoryRow, JobRow, TaskRow } from '../ports/history.ts';
import { keptSpecOf } from './kept-spec.ts';
import { formatProgram } from './program-line.ts';

/** Takes (and empties) the notes of the state; one row per job and per ended epoch. */
export function takeHistory(state: State): HistoryRow[] {
  const rows: HistoryRow[] = [];
  for (const job of state.scratch.changedJobs) rows.push({ kind: 'job', row: jobRow(job) });
  for (const ended of state.scratch.endedEpochs) rows.push({ kind: 'task', row: taskRow(ended) });
  state.scratch.changedJobs.clear();
  state.scratch.endedEpochs.length = 0;
  return rows;
}

/** The last specification written out: equal jobs share one, and each has two rows in its life. */
let written: { readonly spec: JobSpec; readonly text: string } | null = null;

function writeSpec(spec: JobSpec): string {
  if (written?.spec === spec) return written.text;
  written = { spec, text: JSON.stringify(keptSpecOf(spec)) };
  return written.text;
}

/** How the tasks of an array ended: the row has room for one outcome only. */
function writeCounts({ spec, outcome, ended }: Job): string | null {
  if (spec.array === null || outcome === null) return null;
  const counts = [...ended].map(([kind, indices]) => [kind, indices.size] as const);
  return JSON.stringify(Object.fromEntries(counts));
}

function jobRow(job: Job): JobRow {
  const { spec, outcome } = job;
  return {
    jobId: job.id,
    name: spec.name,
    owner: job.owner,
    partition: spec.partition,
    command: formatProgram(spec.program),
    state: outcome === null ? 'active' : 'done',
    outcome: outcome?.kind ?? null,
    exitCode: outcome?.exit?.code ?? null,
    signal: outcome?.exit?.signal ?? null,
    detail: outcome?.detail ?? null,
    taskCount: job.taskCount,
    submittedAt: job.submittedAt,
    startedAt: job.startedAt,
    endedAt: job.endedAt,
    nodeCount: spec.request.nodeCount,
    cpuCount: spec.request.perNode.cpuCount,
    memoryBytes: spec.request.perNode.memoryBytes,
    walltimeMs: spec.walltimeMs ?? 0,
    outcomeCounts: writeCounts(job),
    spec: writeSpec(spec),
  };
}

function taskRow(ended: EndedEpoch): TaskRow {
  const { job, outcome, usage } = ended;
  return {
    jobId: job.id,
    taskIndex: job.spec.array === null ? -1 : ended.index,
    epoch: ended.epoch,
    final: ended.final,
    outcome: outcome.kind,
    exitCode: outcome.exit?.code ?? null,
    signal: outcome.exit?.signal ?? null,
    detail: outcome.detail ?? null,
    nodes: ended.nodes.join(','),
    startedAt: ended.startedAt,
    endedAt: ended.endedAt,
    ...usage,
  };
}
