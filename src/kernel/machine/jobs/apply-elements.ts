// Applying what happens to tasks that wait for the task of another array with their index.

import type { Of } from '../events.ts';
import type { State } from '../state.ts';
import { dequeueEntry, jobOf, requeueEntry } from './apply.ts';
import { isBlocked } from './behind.ts';
import { leave } from './dependents.ts';
import { parseIndices } from './indices.ts';

/** Those that wait for no other task any more are the scheduler's. */
export function applyElementMet(state: State, event: Of<'element_met'>): void {
  const job = jobOf(state, event.jobId);
  dequeueEntry(state, job);
  const indices = parseIndices(event.indices);
  leave(state, job, { on: event.on, indices });
  for (const index of indices) if (!isBlocked(job, index)) job.pending.add(index);
  requeueEntry(state, job);
}
