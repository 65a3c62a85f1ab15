// How long the tasks of arrays run, as far as it has been seen since the head started.

import type { JobId } from '../model/ids.ts';
import type { Task } from './jobs/facts.ts';

/** A mean over the last ends; so many of them before it says anything. */
const ENDS_MIN = 4;
const WEIGHT = 1 / 16;
/** Jobs that are remembered; the oldest go first. */
const JOBS_MAX = 1024;

interface Pace {
  ends: number;
  meanMs: number;
}

export class PaceBook {
  readonly #paces = new Map<JobId, Pace>();

  note({ job, startedAt }: Task, endedAt: number): void {
    if (job.spec.array === null || startedAt === null) return;
    const ranMs = Math.max(0, endedAt - startedAt);
    const pace = this.#paces.get(job.id);
    if (pace === undefined) return this.#begin(job.id, ranMs);
    pace.ends += 1;
    pace.meanMs += (ranMs - pace.meanMs) * Math.max(WEIGHT, 1 / pace.ends);
  }

  /** Mean run time of the job's tasks in ms; null: not enough of them have ended. */
  meanOf(jobId: JobId): number | null {
    const pace = this.#paces.get(jobId);
    return pace === undefined || pace.ends < ENDS_MIN ? null : pace.meanMs;
  }

  #begin(jobId: JobId, meanMs: number): void {
    this.#paces.set(jobId, { ends: 1, meanMs });
    if (this.#paces.size <= JOBS_MAX) return;
    const oldest = this.#paces.keys().next();
    if (oldest.done !== true) this.#paces.delete(oldest.value);
  }
}
