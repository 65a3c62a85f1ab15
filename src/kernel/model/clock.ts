// The wall clock beside clocks that nobody sets.

import { CLOCK_STEP_MIN_MS } from './limits.ts';

/** The wall clock beside the one that counts from the machine's start, also while it sleeps. */
export interface ClockReading {
  /** Names that start. */
  readonly boot: string;
  /** The wall clock when that was: it changes only when the wall clock is set. */
  readonly bootedAt: number;
}

/** One time that the wall clock was set. */
export interface ClockStep {
  /** Ms since 1970, by the clock of now. */
  readonly at: number;
  /** Below zero: back. */
  readonly byMs: number;
}

/**
 * Whether the wall clock and the one that never jumps still go together. They do not when somebody
 * has set the one, or when the machine has slept: which it was, a reading tells.
 */
export class ClocksApart {
  #ms: number | null = null;

  /** Cheap enough for every input. True the first time, and once for each change. */
  haveMoved(at: number, monotonic: number): boolean {
    const ms = at - monotonic;
    if (this.#ms !== null && Math.abs(ms - this.#ms) < CLOCK_STEP_MIN_MS) return false;
    this.#ms = ms;
    return true;
  }
}
