// Wakes those who wait for a job when a record about it was committed.

import type { Event } from '../../machine/declared.ts';
import type { JobId } from '../../model/ids.ts';
import type { PublicEvents } from './public-events.ts';

export class JobWatch {
  readonly #waiting = new Map<JobId, Set<() => void>>();
  readonly #events: Pick<PublicEvents, 'jobIdOf'>;

  constructor(events: Pick<PublicEvents, 'jobIdOf'>) {
    this.#events = events;
  }

  /** `changed` is called after each record with an event of the job. */
  watch(jobId: JobId, changed: () => void): () => void {
    const waiting = this.#waiting.get(jobId) ?? new Set();
    this.#waiting.set(jobId, waiting.add(changed));
    return () => {
      waiting.delete(changed);
      if (waiting.size === 0 && this.#waiting.get(jobId) === waiting) this.#waiting.delete(jobId);
    };
  }

  committed(events: readonly Event[]): void {
    if (this.#waiting.size === 0) return;
    const touched = new Set<JobId>();
    for (const event of events) {
      const jobId = this.#events.jobIdOf(event);
      if (jobId !== null) touched.add(jobId);
    }
    for (const jobId of touched) {
      for (const changed of [...(this.#waiting.get(jobId) ?? [])]) changed();
    }
  }
}
