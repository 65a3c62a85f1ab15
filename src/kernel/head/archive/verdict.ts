// What becomes of the parts of a task: they wait while it is not done, become its folder when it
// is, and go when it starts anew. Decided by what is durable, so that a head that starts again
// decides the same.

import type { State } from '../../machine/state.ts';
import type { JobId } from '../../model/ids.ts';
import type { HistoryRow, TaskRow } from '../../ports/history.ts';
import type { Store } from '../../ports/store.ts';
import type { Shelf } from './archive-places.ts';
import type { PartName } from './parts.ts';
import { keyOf } from './stored-parts.ts';

export interface Verdict {
  /** Parts of the start that its task is done with. */
  readonly finished: readonly PartName[];
  readonly dropped: readonly PartName[];
  /** How the task ended; null: it has not. */
  readonly row: TaskRow | null;
}

/** What the store has of the last end of a task. */
export async function lastEndOf(
  store: Pick<Store, 'tasks'>,
  { jobId, index, isArray }: Shelf,
): Promise<TaskRow | undefined> {
  const rows = await store.tasks({
    jobIds: [jobId],
    taskIndex: isArray ? index : -1,
    lastEpochs: true,
    limit: 1,
  });
  return rows[0];
}

/** The ends after which no task starts anew, by `keyOf` their tasks. */
export function finalEnds(history: readonly HistoryRow[]): ReadonlyMap<string, TaskRow> {
  const ends = new Map<string, TaskRow>();
  for (const { kind, row } of history) {
    if (kind !== 'task' || !row.final) continue;
    // A plain job's only task is -1 there.
    ends.set(keyOf({ jobId: row.jobId, index: Math.max(0, row.taskIndex) }), row);
  }
  return ends;
}

/**
 * `names`: all of one task. `last`: its last end. `isStart`: memory holds what is durable and
 * nothing more.
 */
export function verdictOn(
  state: State,
  names: readonly PartName[],
  { last, isStart }: { readonly last: TaskRow | undefined; readonly isStart: boolean },
): Verdict {
  const [first] = names;
  if (first === undefined) return { finished: [], dropped: [], row: null };
  const { jobId, index } = first.shelf;
  const task = state.jobs.get(jobId as JobId)?.active.get(index);
  const isOver = ({ epoch }: PartName): boolean => {
    if (last !== undefined && last.epoch >= epoch) return true;
    // Memory may be ahead of the disk: what it says is over may yet turn out not to be.
    return isStart && (task === undefined || task.epoch !== epoch || task.parts.size === 0);
  };
  const over = names.filter(isOver);
  const isFinished = ({ epoch }: PartName) => last?.final === true && last.epoch === epoch;
  return {
    finished: over.filter(isFinished),
    dropped: over.filter((name) => !isFinished(name)),
    row: last?.final === true ? last : null,
  };
}
