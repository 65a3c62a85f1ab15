// Where a batch stands: which part runs each of its jobs, and how many are in which state.

import { IntervalSet } from '../../../kernel/base/interval-set.ts';
import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import type { State } from '../../../kernel/machine/state.ts';
import { shownState } from '../../../kernel/machine/tasks/shown-state.ts';
import type { OutcomeKind, TaskState } from '../../../kernel/model/job.ts';
import type { Batch, BatchPart } from './facts.ts';

/** The jobs of a part that no later part runs. */
export interface Current {
  readonly part: BatchPart;
  /** Items, by which its tasks are called. */
  readonly items: IntervalSet;
  /** Which jobs of the batch these items are. */
  readonly numbers: IntervalSet;
}

/** Oldest part first; those that run nothing any more are left out. */
export function currentParts({ parts }: Batch): Current[] {
  const later = new Set<number>();
  const found: Current[] = [];
  for (const part of [...parts].reverse()) {
    const items = new IntervalSet();
    const numbers = new IntervalSet();
    for (const item of part.items) {
      const number = part.numbers[item] as number;
      if (later.has(number)) continue;
      later.add(number);
      items.add(item);
      numbers.add(number);
    }
    if (items.size > 0) found.unshift({ part, items, numbers });
  }
  return found;
}

/** All that ended otherwise than completed. */
export function failedNumbers({ ended }: Batch): IntervalSet {
  const failed = new IntervalSet();
  for (const [kind, numbers] of ended) {
    if (kind === 'completed') continue;
    for (const [from, to] of numbers.intervals()) failed.addRange(from, to);
  }
  return failed;
}

export type BatchState = 'pending' | 'running' | 'done';

export interface Standing {
  readonly state: BatchState;
  /** Null when it is not done. */
  readonly outcome: OutcomeKind | null;
  /** Jobs that are not over, by the state of their tasks. */
  readonly open: Readonly<Partial<Record<TaskState, number>>>;
  /** Jobs that are over. */
  readonly ended: Readonly<Partial<Record<OutcomeKind, number>>>;
}

export function standingOf(state: State, batch: Batch): Standing {
  const open: Partial<Record<TaskState, number>> = {};
  const ended: Partial<Record<OutcomeKind, number>> = {};
  for (const [kind, numbers] of batch.ended) ended[kind] = numbers.size;
  for (const { jobId } of batch.parts) countOpen(state.jobs.get(jobId), open);
  const isDone = batch.endedAt !== null;
  const hasBegun = batch.ended.size > 0 || Object.keys(open).some((word) => word !== 'pending');
  return {
    state: isDone ? 'done' : hasBegun ? 'running' : 'pending',
    outcome: isDone ? outcomeOf(batch) : null,
    open,
    ended,
  };
}

function countOpen(job: Job | undefined, open: Partial<Record<TaskState, number>>): void {
  if (job === undefined || job.outcome !== null) return;
  let left = job.taskCount;
  for (const set of job.ended.values()) left -= set.size;
  for (const task of job.active.values()) {
    if (task.state === 'pending') continue;
    const state = shownState(task);
    open[state] = (open[state] ?? 0) + 1;
    left -= 1;
  }
  if (left > 0) open.pending = (open.pending ?? 0) + left;
}

/** The gravest first: what somebody has to look at. */
const GRAVITY: readonly OutcomeKind[] = ['build_failed', 'failed'];

function outcomeOf({ ended }: Batch): OutcomeKind {
  const kinds: OutcomeKind[] = [...ended.keys()].filter((kind) => kind !== 'completed');
  const [only] = kinds;
  if (only === undefined) return 'completed';
  if (kinds.length === 1) return only;
  return GRAVITY.find((kind) => kinds.includes(kind)) ?? 'failed';
}
