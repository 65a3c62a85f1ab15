// Who waits for whom: the jobs behind a job, and the tasks of a job behind those of another array.

import type { IntervalSet } from '../../base/interval-set.ts';
import type { JobId } from '../../model/ids.ts';
import type { State } from '../state.ts';
import type { Job } from './facts.ts';

export function dependentsOf(state: State, on: JobId): Set<JobId> {
  let dependents = state.indexes.dependents.get(on);
  if (dependents === undefined) {
    dependents = new Set();
    state.indexes.dependents.set(on, dependents);
  }
  return dependents;
}

export function forgetDependent(state: State, on: JobId, dependent: JobId): void {
  const dependents = state.indexes.dependents.get(on);
  dependents?.delete(dependent);
  if (dependents?.size === 0) state.indexes.dependents.delete(on);
}

/** These wait no longer, for whomever. */
export function leaveAll(state: State, job: Job, indices: IntervalSet): void {
  for (const on of [...job.behind.keys()]) leave(state, job, { on, indices });
}

/** Waits for no task of `on` any more: the last of them takes the job out of those behind it. */
export function leave(
  state: State,
  job: Job,
  { on, indices }: { readonly on: JobId; readonly indices: IntervalSet },
): void {
  const left = job.behind.get(on);
  if (left === undefined) return;
  if (indices.size === 1) left.delete(indices.first as number);
  else left.subtract(indices);
  if (left.size > 0) return;
  const rest = new Map([...job.behind].filter(([id]) => id !== on));
  job.behind = rest;
  if (!job.waitsFor.has(on)) forgetDependent(state, on, job.id);
}
