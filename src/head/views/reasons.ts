// Why tasks wait, asked once per kind of request: a page of a thousand equal jobs costs one answer.

import type { Job } from '../../core/controller/state.ts';
import type { PendingReason } from '../../core/model/job.ts';
import type { Engine } from '../engine.ts';

/** Good for one answer only: nothing in it is renewed. */
export class Reasons {
  readonly #engine: Pick<Engine, 'explain'>;
  readonly #byShape = new Map<string, PendingReason>();

  constructor(engine: Pick<Engine, 'explain'>) {
    this.#engine = engine;
  }

  of(job: Job, index: number): PendingReason {
    if (!isOrdinary(job, index)) return this.#engine.explain(job, index);
    const { shape, qos } = job.entry;
    const key = `${shape.key} ${job.owner} ${qos}`;
    let reason = this.#byShape.get(key);
    if (reason === undefined) {
      reason = this.#engine.explain(job, index);
      this.#byShape.set(key, reason);
    }
    return reason;
  }
}

/** Waits for nothing but resources: then the answer depends on the request and the owner. */
function isOrdinary(job: Job, index: number): boolean {
  return job.queued && job.entry.runningMax === null && !job.active.has(index);
}
