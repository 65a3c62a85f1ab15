// Where a task stands: its job, and its index in it.

import type { TaskPlace } from '../../model/ids.ts';
import type { Job } from './facts.ts';

/** The index inside a job: a plain job's only task has 0. */
export function indexOf(place: TaskPlace): number {
  return place.index ?? 0;
}

export function placeOf(job: Job, index: number): TaskPlace {
  return { jobId: job.id, index: job.spec.array === null ? null : index };
}
