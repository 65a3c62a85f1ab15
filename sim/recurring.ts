// What happens again and again in a run, each kind at a rate and from a stream of its own: a kind
// more shifts neither when the others happen nor what they draw.

import type { Dice, Streams } from './chance.ts';
import type { Time } from './clock.ts';

export class Recurring {
  readonly #time: Time;
  readonly #streams: Streams;
  #over = false;

  constructor(time: Time, streams: Streams) {
    this.#time = time;
    this.#streams = streams;
  }

  /** `meanMs` between two of a kind; null = never. */
  every(kind: string, meanMs: number | null, then: (dice: Dice) => void): void {
    if (meanMs === null) return;
    const instants = this.#streams.of(`${kind} when`);
    const again = (): void => {
      this.#time.after(instants.waitMs(meanMs), () => {
        if (this.#over) return;
        then(this.#streams.of(kind));
        again();
      });
    };
    again();
  }

  get isOver(): boolean {
    return this.#over;
  }

  stop(): void {
    this.#over = true;
  }
}

/** A mean time that is so many times as long; never stays never. */
export function times(count: number, meanMs: number | null): number | null {
  return meanMs === null ? null : count * meanMs;
}
