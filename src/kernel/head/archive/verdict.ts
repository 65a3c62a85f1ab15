// What becomes of the parts of a task: they wait while it is not done, become its folder when it
// is, and go when it starts anew. Decided by what is durable, so that a head that starts again
// decides the same.

import type { JobId } from '../../model/ids.ts';
import type { TaskRow } from '../../ports/history.ts';
import type { Engine } from '../engine.ts';
import type { PartName } from './parts.ts';

export interface Verdict {
  /** Parts of the start that its task is done with. */
  readonly finished: readonly PartName[];
  readonly dropped: readonly PartName[];
  /** How the task ended; null: it has not. */
  readonly row: TaskRow | null;
}

/** `names`: all of one task. `isStart`: memory holds what is durable and nothing more. */
export async function verdictOn(
  { state, store }: Pick<Engine, 'state' | 'store'>,
  names: readonly PartName[],
  isStart: boolean,
): Promise<Verdict> {
  const [first] = names;
  if (first === undefined) return { finished: [], dropped: [], row: null };
  const { jobId, index, isArray } = first.shelf;
  const rows = await store.tasks({
    jobIds: [jobId],
    taskIndex: isArray ? index : -1,
    lastEpochs: true,
    limit: 1,
  });
  const [last] = rows;
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
