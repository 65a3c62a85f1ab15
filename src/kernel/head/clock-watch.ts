// Whether somebody has set the wall clock: it is held against clocks that nobody sets.

import { formatDuration } from '../base/duration.ts';
import { type ClockReading, type ClockStep, ClocksApart } from '../model/clock.ts';
import type { BootClock, Clock } from '../ports/clock.ts';

export class ClockWatch {
  readonly #clock: Clock;
  readonly #boot: BootClock;
  readonly #apart = new ClocksApart();
  readonly #startedMs: number;

  constructor(clock: Clock, boot: BootClock) {
    this.#clock = clock;
    this.#boot = boot;
    this.#startedMs = boot.sinceMs();
    this.look(clock.now());
  }

  /** When this began, by the clock of now. */
  get startedAt(): number {
    return Math.round(this.#clock.now() - (this.#boot.sinceMs() - this.#startedMs));
  }

  get reading(): ClockReading {
    const { boot } = this.#boot;
    return { boot, bootedAt: Math.round(this.#clock.now() - this.#boot.sinceMs()) };
  }

  /** Null: the clocks go together as before. */
  look(at: number): ClockReading | null {
    return this.#apart.haveMoved(at, this.#clock.monotonic()) ? this.reading : null;
  }
}

/** For the log and for people; one line. */
export function stepWords({ byMs }: Pick<ClockStep, 'byMs'>): string {
  const span = formatDuration(Math.round(Math.abs(byMs) / 1000) * 1000);
  return `the head's clock was set ${byMs < 0 ? 'back' : 'forward'} by ${span}`;
}
