// Jobs that have left memory, from their rows in the history.

import type { JobDetail, JobView } from '../../api/jobs.ts';
import type { JobSpec, Outcome, OutcomeKind, TaskState } from '../../core/model/job.ts';
import type { JobRow } from '../../ports/history.ts';
import { viewExit, viewOutcome, viewRequest, viewSpec } from './job-view.ts';

/** The specification as the row keeps it: all but the environment. */
type KeptSpec = Omit<JobSpec, 'environment'> & {
  /** Of an array, how many tasks ended in which way; missing from rows of 0.1.0. */
  readonly ended?: Readonly<Record<string, number>>;
};

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
    outcomeCounts: countsOf(row, spec),
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
function countsOf({ outcome, taskCount }: JobRow, { ended }: KeptSpec): Record<string, number> {
  if (ended !== undefined) return { ...ended };
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
