// What follows from jobs and their tasks: the queue, limits, who waits for whom.

import { present } from '../../base/assert.ts';
import type { State } from '../state.ts';
import { preemptedFor } from '../tasks/stops.ts';
import { countHeld, noteForeign, requeueEntry } from './apply.ts';
import { dependentsOf } from './dependents.ts';
import type { Job } from './facts.ts';

export function indexJobs(state: State): void {
  for (const [id, { text }] of state.environments) state.indexes.environmentIds.set(text, id);
  for (const job of state.jobs.values()) indexJob(state, job);
}

function indexJob(state: State, job: Job): void {
  const { environments, indexes } = state;
  present(environments.get(job.environmentId), 'the environment').users += 1;
  let running = 0;
  for (const task of job.active.values()) {
    if (task.parts.size > 0) running += 1;
    if (preemptedFor(task) !== null) indexes.preempted.add(task);
  }
  noteForeign(state, job);
  countHeld(state, job, running);
  for (const on of [...job.waitsFor, ...job.behind.keys()]) dependentsOf(state, on).add(job.id);
  if (!job.beginReached && job.outcome === null) indexes.beginning.add(job.id);
  requeueEntry(state, job);
}
