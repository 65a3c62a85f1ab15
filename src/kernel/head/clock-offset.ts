// How far a node's wall clock is from the head's. Only people are told: nothing is decided by it.

/** Heartbeats looked at; a clock that was set shows after as many. */
const SAMPLES_MAX = 8;

/**
 * A heartbeat that took long makes the node's clock look slow, never fast: the largest of the last
 * differences is the nearest to the truth.
 */
export class ClockOffset {
  readonly #samples: number[] = [];

  /** Ms that the node is ahead; null before the first heartbeat that says. */
  get ms(): number | null {
    return this.#samples.length === 0 ? null : Math.max(...this.#samples);
  }

  add(theirs: number, ours: number): void {
    this.#samples.push(theirs - ours);
    if (this.#samples.length > SAMPLES_MAX) this.#samples.shift();
  }
}
