// Workers by how many calls they have: which one gets the next call, at flat cost.

import {
  CALL_AHEAD_BYTES_MAX,
  CALL_AHEAD_MAX,
  CALL_AHEAD_MS,
} from '../../../../kernel/model/limits.ts';
import type { Worker } from './records.ts';

export class Loads {
  readonly #first: (Worker | null)[] = Array.from({ length: CALL_AHEAD_MAX }, () => null);
  /** No list below this one has a worker. */
  #least = 0;

  /**
   * The one with the fewest calls among those that take more; of equals the last that became so.
   */
  get least(): Worker | null {
    while (this.#least < CALL_AHEAD_MAX) {
      const worker = this.#first[this.#least] as Worker | null;
      if (worker !== null) return worker;
      this.#least += 1;
    }
    return null;
  }

  /** After every change of what a worker has, or of whether it takes calls. */
  refresh(worker: Worker): void {
    const bucket = bucketOf(worker);
    if (bucket === worker.bucket) return;
    if (worker.bucket >= 0) this.#unlink(worker);
    worker.bucket = bucket;
    if (bucket < 0) return;
    const next = this.#first[bucket] as Worker | null;
    worker.next = next;
    if (next !== null) next.previous = worker;
    this.#first[bucket] = worker;
    if (bucket < this.#least) this.#least = bucket;
  }

  #unlink(worker: Worker): void {
    const { previous, next } = worker;
    if (previous === null) this.#first[worker.bucket] = next;
    else previous.next = next;
    if (next !== null) next.previous = previous;
    worker.previous = null;
    worker.next = null;
  }
}

function bucketOf(worker: Worker): number {
  if (worker.line === null || worker.duty === 'leaves' || worker.isSuspended) return -1;
  if (worker.load === 0) return 0;
  if (worker.duty === 'held_up') return -1;
  const isFull =
    worker.load >= CALL_AHEAD_MAX ||
    worker.aheadMs >= CALL_AHEAD_MS ||
    worker.aheadBytes >= CALL_AHEAD_BYTES_MAX;
  return isFull ? -1 : worker.load;
}
