// A set of non-negative integers kept as sorted, disjoint, non-adjacent ranges. An array job of
// 100,000 tasks costs one range, not 100,000 entries. Prints and parses as `0-99,120,200-210`.

import { assert } from './assert.ts';

/** Inclusive bounds. */
export type Interval = readonly [from: number, to: number];

export class IntervalSet {
  /** Flat: from, to, from, to… One small array is what a waiting job's set costs. */
  #bounds: number[] = [];
  #size = 0;

  static of(intervals: Iterable<Interval>): IntervalSet {
    const set = new IntervalSet();
    for (const [from, to] of intervals) set.addRange(from, to);
    return set;
  }

  /** How many integers are in the set. */
  get size(): number {
    return this.#size;
  }

  /** The smallest member, if any. */
  get first(): number | undefined {
    return this.#bounds[0];
  }

  /** The largest member, if any. */
  get last(): number | undefined {
    return this.#bounds.at(-1);
  }

  intervals(): Interval[] {
    const intervals: Interval[] = [];
    for (let at = 0; at < this.#bounds.length; at += 2) {
      intervals.push([this.#bounds[at] as number, this.#bounds[at + 1] as number]);
    }
    return intervals;
  }

  /** How many are less than this. */
  countBelow(value: number): number {
    let count = 0;
    for (let at = 0; at < this.#bounds.length; at += 2) {
      const from = this.#bounds[at] as number;
      if (from >= value) break;
      count += Math.min(value - 1, this.#bounds[at + 1] as number) - from + 1;
    }
    return count;
  }

  has(value: number): boolean {
    const from = this.#bounds[this.#seek(value)];
    return from !== undefined && from <= value;
  }

  add(value: number): void {
    // Most sets are made in their order.
    if (value !== (this.last ?? Number.NaN) + 1) return this.addRange(value, value);
    this.#bounds[this.#bounds.length - 1] = value;
    this.#size += 1;
  }

  addRange(from: number, to: number): void {
    const isRange = Number.isSafeInteger(from) && from >= 0 && to >= from;
    // Not said before it is wrong: words for each of 100,000 jobs take their time.
    if (!isRange) assert(isRange, `a range ${from}-${to}`);
    if (this.#bounds.length === 0) {
      // By `splice` it would have room for sixteen more numbers, in each of 100,000 jobs.
      this.#bounds = [from, to];
      this.#size = to - from + 1;
      return;
    }
    // The first range that touches or follows [from, to], and the first that lies wholly beyond.
    const start = this.#seek(from - 1);
    let end = start;
    let low = from;
    let high = to;
    while (end < this.#bounds.length && (this.#bounds[end] as number) <= to + 1) {
      const [left, right] = [this.#bounds[end] as number, this.#bounds[end + 1] as number];
      low = Math.min(low, left);
      high = Math.max(high, right);
      this.#size -= right - left + 1;
      end += 2;
    }
    this.#bounds.splice(start, end - start, low, high);
    this.#size += high - low + 1;
  }

  /** Removes a value; says whether it was there. */
  delete(value: number): boolean {
    const at = this.#seek(value);
    const from = this.#bounds[at];
    if (from === undefined || from > value) return false;
    const to = this.#bounds[at + 1] as number;
    const rest: number[] = [];
    if (from < value) rest.push(from, value - 1);
    if (value < to) rest.push(value + 1, to);
    this.#bounds.splice(at, 2, ...rest);
    this.#size -= 1;
    return true;
  }

  /** Removes every member of the other set, in one pass over both. */
  subtract(other: IntervalSet): void {
    const cuts = other.#bounds;
    const rest: number[] = [];
    let size = 0;
    const keep = (from: number, to: number): void => {
      if (from > to) return;
      rest.push(from, to);
      size += to - from + 1;
    };
    let cut = 0;
    for (const [start, to] of this.intervals()) {
      let from = start;
      while (cut < cuts.length && (cuts[cut + 1] as number) < from) cut += 2;
      // `cut` stays at the first range of the other that can reach beyond this one.
      while (cut < cuts.length && (cuts[cut] as number) <= to) {
        keep(from, (cuts[cut] as number) - 1);
        from = (cuts[cut + 1] as number) + 1;
        if (from > to) break;
        cut += 2;
      }
      keep(from, to);
    }
    this.#bounds = rest;
    this.#size = size;
  }

  *[Symbol.iterator](): Iterator<number> {
    for (let at = 0; at < this.#bounds.length; at += 2) {
      const to = this.#bounds[at + 1] as number;
      for (let value = this.#bounds[at] as number; value <= to; value += 1) yield value;
    }
  }

  toString(): string {
    return this.intervals()
      .map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`))
      .join(',');
  }

  /** The position of the first range that ends at or after `value`. */
  #seek(value: number): number {
    let low = 0;
    let high = this.#bounds.length >>> 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#bounds[2 * middle + 1] as number) < value) low = middle + 1;
      else high = middle;
    }
    return 2 * low;
  }
}
