// Frames of calls are worked on a little at a time: between two slices the head hears its agents
// and answers requests, however many calls come in.

import type { Clock } from '../../../kernel/ports/clock.ts';
import { Fifo } from '../core/fifo.ts';

/** Far below what anybody notices who submits a job meanwhile. */
const SLICE_MS = 5;

export interface Worked {
  /** One frame; whether there are more. */
  work(): boolean;
  /** Sends what has gathered. */
  flush(): void;
}

export class Slices {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #busy = new Fifo<Worked>();
  readonly #unsent = new Set<Worked>();
  #isDue = false;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Queues a line with frames that nobody has looked at; called once until it has none. */
  hasWork(one: Worked): void {
    this.#busy.push(one);
    this.#ask();
  }

  /**
   * Queues a line with something to send: all that gathers until the end of the slice goes out as
   * one frame.
   */
  hasUnsent(one: Worked): void {
    this.#unsent.add(one);
    this.#ask();
  }

  #ask(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    // After all sockets that have something were read, and before they are read again.
    setImmediate(() => this.#run());
  }

  #run(): void {
    this.#isDue = false;
    const endsAt = this.#clock.monotonic() + SLICE_MS;
    for (let one = this.#busy.shift(); one !== undefined; one = this.#busy.shift()) {
      if (one.work()) this.#busy.push(one);
      if (this.#clock.monotonic() >= endsAt) break;
    }
    for (const one of this.#unsent) one.flush();
    this.#unsent.clear();
    if (this.#busy.length > 0) this.#ask();
  }
}
