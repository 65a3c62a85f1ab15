// From what the last steps changed to the rows that outlive memory.

import type { EndedEpoch } from '../machine/scratch.ts';
import type { State } from '../machine/state.ts';
import type { HistoryRow, TaskRow } from '../ports/history.ts';
import { rowOf } from './answers/job-record.ts';

/** Takes (and empties) the notes of the state; one row per job and per ended epoch. */
export function takeHistory(state: State): HistoryRow[] {
  const rows: HistoryRow[] = [];
  for (const job of state.scratch.changedJobs) rows.push({ kind: 'job', row: rowOf(job) });
  for (const ended of state.scratch.endedEpochs) rows.push({ kind: 'task', row: taskRow(ended) });
  state.scratch.changedJobs.clear();
  state.scratch.endedEpochs.length = 0;
  return rows;
}

function taskRow(ended: EndedEpoch): TaskRow {
  const { job, outcome, usage, gpuCount, gpuType, whole } = ended;
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
    gpuCount,
    gpuType,
    heldCpus: whole?.cpuCount ?? null,
    heldMemoryBytes: whole?.memoryBytes ?? null,
  };
}
