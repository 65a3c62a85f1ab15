// How fast calls end: how many a second, and how long they took from their arrival. Of the last
// minute at most, in flat memory and at flat cost.

/** Half of what it remembers. */
const WINDOW_MS = 30_000;
/** Per doubling: a time is known to within a twentieth. */
const STEPS = 16;
/** The shortest time that is told from shorter ones, and how often it doubles. */
const LEAST_MS = 0.01;
const DOUBLINGS = 28;

export interface Speed {
  readonly perSecond: number;
  /** Half of the calls took no longer, from their arrival to their end. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Window {
  readonly from: number;
  count: number;
  /** No quantile is longer than the longest call. */
  longestMs: number;
  readonly counts: Uint32Array;
}

export class Meter {
  #now: Window | null = null;
  #before: Window | null = null;

  note(at: number, tookMs: number): void {
    this.#turn(at);
    this.#now ??= {
      from: at,
      count: 0,
      longestMs: 0,
      counts: new Uint32Array(STEPS * DOUBLINGS),
    };
    this.#now.count += 1;
    this.#now.longestMs = Math.max(this.#now.longestMs, tookMs);
    const step = Math.floor(STEPS * Math.log2(Math.max(tookMs, LEAST_MS) / LEAST_MS));
    const index = Math.min(this.#now.counts.length - 1, step);
    this.#now.counts[index] = (this.#now.counts[index] ?? 0) + 1;
  }

  /** Returns null when none has ended lately. */
  speed(at: number): Speed | null {
    this.#turn(at);
    const windows = [this.#before, this.#now].filter((one) => one !== null);
    const count = windows.reduce((sum, one) => sum + one.count, 0);
    const [first] = windows;
    if (first === undefined || count === 0) return null;
    // What has gone on for less than a second is no rate yet.
    const seconds = Math.max(1, (at - first.from) / 1000);
    const longestMs = Math.max(...windows.map((one) => one.longestMs));
    const within = (part: number): number => Math.min(longestMs, timeOf(windows, part * count));
    return { perSecond: count / seconds, p50Ms: within(0.5), p99Ms: within(0.99) };
  }

  #turn(at: number): void {
    if (this.#before !== null && at - this.#before.from >= 2 * WINDOW_MS) this.#before = null;
    if (this.#now === null || at - this.#now.from < WINDOW_MS) return;
    this.#before = at - this.#now.from < 2 * WINDOW_MS ? this.#now : null;
    this.#now = null;
  }
}

/** The time within which so many calls ended. */
function timeOf(windows: readonly Window[], wanted: number): number {
  let seen = 0;
  for (let index = 0; index < STEPS * DOUBLINGS; index += 1) {
    for (const { counts } of windows) seen += counts[index] ?? 0;
    if (seen >= wanted) return LEAST_MS * 2 ** ((index + 1) / STEPS);
  }
  return LEAST_MS * 2 ** DOUBLINGS;
}
