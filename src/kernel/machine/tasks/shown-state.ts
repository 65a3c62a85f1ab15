// The state of a task in the words of its user: what of it only its parts tell is added to the
// state that decisions are made by.

import type { TaskState } from '../../model/job.ts';
import type { Task } from '../jobs/facts.ts';

/** `staging_in` while its files may be on their way, `staging_out` while what it leaves is kept. */
export function shownState(task: Task): TaskState {
  const { state, ending, job } = task;
  if (ending !== null) return state;
  if (isStoring(task)) return 'staging_out';
  if (isAtSite(task) || isNext(task)) return 'pending';
  const isBringing = state === 'starting' && job.spec.staging?.inputs !== undefined;
  return isBringing && every(task, 'ordered') ? 'staging_in' : state;
}

/** True for a task that waits on its node for a place of its job (A35), and holds nothing. */
export function isNext({ parts }: Task): boolean {
  for (const { isNext } of parts.values()) if (isNext) return true;
  return false;
}

/** True for a task that waits in the queue of a site. */
export function isAtSite({ state, parts }: Task): boolean {
  if (state !== 'starting' || parts.size === 0) return false;
  for (const part of parts.values())
    if (part.atSite !== true || part.state !== 'ordered') return false;
  return true;
}

/** None of its processes is left: nothing can be told to them. */
export function isStoring(task: Task): boolean {
  let count = 0;
  for (const { state } of task.parts.values()) {
    if (state === 'ended') continue;
    if (state !== 'storing') return false;
    count += 1;
  }
  return count > 0;
}

function every({ parts }: Task, wanted: 'ordered'): boolean {
  for (const { state } of parts.values()) if (state !== wanted) return false;
  return true;
}
