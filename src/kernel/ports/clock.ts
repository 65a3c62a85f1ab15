// Time as an argument. Shells read it here, the core gets it with each input.

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Wall clock, ms since 1970. May jump when somebody sets it. */
  now(): number;
  /** Never goes back, never jumps; ms from an arbitrary start. For time-outs and leases. */
  monotonic(): number;
  after(delayMs: number, then: () => void): Timer;
  /**
   * Runs `then` when the current turn's work is done, before further input is read. From a timer:
   * when what has come in until then has been read.
   */
  soon(then: () => void): void;
}

/** Counts from the start of the machine, over restarts of programs and while the machine sleeps. */
export interface BootClock {
  /** Names that start. */
  readonly boot: string;
  sinceMs(): number;
}
