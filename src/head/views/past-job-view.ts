// Jobs that have left memory, from their rows in the history.

import type { JobDetail, JobView } from '../../api/jobs.ts';
import type { Outcome, OutcomeKind, TaskState } from '../../core/model/job.ts';
import type { JobRow } from '../../ports/history.ts';
import type { KeptSpec } from '../kept-spec.ts';
import { viewExit, viewOutcome, viewRequest, viewSpec } from './job-view.ts';

export function viewPastJob(row: JobRow, spec: KeptSpec = readSpec(row)): JobView {
  const outcome = outcomeOf(row);
  return {
    id: row.jobId,
    name: row.name,
    owner: row.owner,
    partition: row.partition,
    state: row.state as TaskState,
    outcome: outcome === null ? null : viewOutcome(outcome),
    reason: null,
    notice: null,
    priority: null,
    taskCount: row.taskCount,
    taskCounts: { [row.state]: row.taskCount },
    outcomeCounts: countsOf(row),
    array: spec.array?.indices ?? null,
    submittedAt: row.submittedAt,
    startedAt: row.startedAt,
    runStartedAt: row.startedAt,
    endedAt: row.endedAt,
    nodes: [],
    exit: viewExit(outcome?.exit),
    command: row.command,
    directory: spec.directory.kind === 'shared' ? spec.directory.path : null,
    request: viewRequest(spec.request),
    walltimeMs: spec.walltimeMs,
    held: false,
  };
}

/** A plain job has one task; of an array whose counts were not kept nothing is known. */
function countsOf(row: JobRow): Record<string, number> {
  const { outcome, taskCount } = row;
  const counts = readCounts(row);
  if (counts !== null) return counts;
  return outcome !== null && taskCount === 1 ? { [outcome]: 1 } : {};
}

export function viewPastJobDetail(
  row: JobRow,
  usage: JobDetail['usage'],
  isOwner: boolean,
): JobDetail {
  const spec = readSpec(row);
  const cancelled = row.outcome === 'cancelled';
  return {
    ...viewPastJob(row, spec),
    ...viewSpec(spec, isOwner),
    environment: null,
    waitsFor: [],
    cancelledBy: cancelled ? row.detail : null,
    usage,
  };
}

/** Null: not an array that is done, or not kept. */
export function readCounts({ outcomeCounts }: JobRow): Record<string, number> | null {
  return outcomeCounts === null ? null : (JSON.parse(outcomeCounts) as Record<string, number>);
}

export function readSpec(row: JobRow): KeptSpec {
  return JSON.parse(row.spec) as KeptSpec;
}

/** Null while the row says that the job is not done. */
export function outcomeOf(
  row: Pick<JobRow, 'outcome' | 'exitCode' | 'signal' | 'detail'>,
): Outcome | null {
  if (row.outcome === null) return null;
  const exit =
    row.exitCode !== null
      ? { exit: { code: row.exitCode } }
      : row.signal !== null
        ? { exit: { signal: row.signal } }
        : {};
  const detail = row.detail === null ? {} : { detail: row.detail };
  return { kind: row.outcome as OutcomeKind, ...exit, ...detail };
}
