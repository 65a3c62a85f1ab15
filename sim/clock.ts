// Virtual time: a heap of events ordered by time and then by the order in which they were asked
// for. And the Clock port over it, one per life of a program, which falls silent with that life.

import type { BootClock, Clock, Timer } from '../src/kernel/ports/clock.ts';

interface Planned {
  readonly at: number;
  readonly sequence: number;
  work: (() => void) | null;
}

/** One run of a program; when it is over, nothing it had planned happens any more. */
export class Life {
  alive = true;
  /** Set with a crash: what the program had handed to its sockets a moment ago is lost too. */
  buffersLost = false;
}

export class Time {
  #now = 0;
  #sequence = 0;
  readonly #heap: Planned[] = [];

  /** True time in ms since the run began; nobody in the simulated world can read it. */
  get now(): number {
    return this.#now;
  }

  /** How many events were ever planned. */
  get planned(): number {
    return this.#sequence;
  }

  after(delayMs: number, then: () => void): Timer {
    const planned: Planned = {
      at: this.#now + Math.max(0, delayMs),
      sequence: this.#sequence++,
      work: then,
    };
    this.#push(planned);
    return {
      cancel() {
        planned.work = null;
      },
    };
  }

  /** Makes the next event happen; false when none is left up to `until`. */
  step(until: number): boolean {
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined || first.at > until) {
        this.#now = Math.max(this.#now, until);
        return false;
      }
      this.#pop();
      if (first.work === null) continue;
      this.#now = first.at;
      first.work();
      return true;
    }
  }

  #push(planned: Planned): void {
    const heap = this.#heap;
    let at = heap.push(planned) - 1;
    while (at > 0) {
      const above = (at - 1) >>> 1;
      if (!before(planned, heap[above] as Planned)) break;
      heap[at] = heap[above] as Planned;
      at = above;
    }
    heap[at] = planned;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Planned;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && before(right, heap[child] as Planned)) child += 1;
      if (!before(heap[child] as Planned, last)) break;
      heap[at] = heap[child] as Planned;
      at = child;
    }
    heap[at] = last;
  }
}

function before(a: Planned, b: Planned): boolean {
  return a.at < b.at || (a.at === b.at && a.sequence < b.sequence);
}

/** How a machine's clocks differ from true time. */
export interface Skew {
  /** Clock seconds per true second, for both clocks and all timers. */
  rate: number;
  /** Wall clock ahead of true time by this much; somebody may set it. */
  wallMs: number;
  /** What of that is a mistake that somebody will see; absent: nothing. */
  misplacedMs?: number;
  /** True time at which the machine started: its monotonic clock counts from there. */
  bootedAt: number;
}

/** 2026-01-01: far from zero, so that an instant is never taken for a duration. */
const EPOCH_MS = 1_767_225_600_000;

/** What a monotonic clock shows when its machine starts. */
export const BOOT_BEGAN_AT = 1000;

/** 2^31 - 1: systemClock wakes up after that, whatever it was asked for. */
const TIMER_MS_MAX = 0x7fff_ffff;

export class SimClock implements Clock {
  readonly #time: Time;
  readonly #life: Life;
  readonly #skew: Skew;

  constructor(time: Time, life: Life, skew: Skew) {
    this.#time = time;
    this.#life = life;
    this.#skew = skew;
  }

  now(): number {
    return Math.floor(EPOCH_MS + this.#skew.wallMs + this.#time.now * this.#skew.rate);
  }

  monotonic(): number {
    return BOOT_BEGAN_AT + (this.#time.now - this.#skew.bootedAt) * this.#skew.rate;
  }

  after(delayMs: number, then: () => void): Timer {
    // A timer of Node.js waits this long at most, and so does `systemClock`.
    const waitMs = Math.min(delayMs, TIMER_MS_MAX);
    return this.#time.after(waitMs / this.#skew.rate, () => {
      if (this.#life.alive) then();
    });
  }

  soon(then: () => void): void {
    this.after(0, then);
  }
}

/** `boot`: one word for each start of the machine. */
export function simBootClock(clock: SimClock, boot: string): BootClock {
  return { boot, sinceMs: () => clock.monotonic() };
}
