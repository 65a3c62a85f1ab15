// A set of non-negative integers kept as sorted, disjoint, non-adjacent ranges. An array job of
// 100,000 tasks costs one range, not 100,000 entries. Prints and parses as `0-99,120,200-210`.

import { assert } from './assert.ts';

/** Inclusive bounds. */
export type Interval = readonly [from: number, to: number];

export class IntervalSet {
  #ranges: [number, number][] = [];
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
    return this.#ranges[0]?.[0];
  }

  intervals(): Interval[] {
    return this.#ranges.map(([from, to]) => [from, to] as const);
  }

  has(value: number): boolean {
    const range = this.#ranges[this.#seek(value)];
    return range !== undefined && range[0] <= value;
  }

  add(value: number): void {
    this.addRange(value, value);
  }

  addRange(from: number, to: number): void {
    assert(Number.isSafeInteger(from) && from >= 0 && to >= from, `a range ${from}-${to}`);
    // The first range that touches or follows [from, to], and the first that lies wholly beyond.
    const start = this.#seek(from - 1);
    let end = start;
    let low = from;
    let high = to;
    for (let range = this.#ranges[end]; range !== undefined && range[0] <= to + 1; ) {
      low = Math.min(low, range[0]);
      high = Math.max(high, range[1]);
      this.#size -= range[1] - range[0] + 1;
      end += 1;
      range = this.#ranges[end];
    }
    this.#ranges.splice(start, end - start, [low, high]);
    this.#size += high - low + 1;
  }

  /** Removes a value; says whether it was there. */
  delete(value: number): boolean {
    const at = this.#seek(value);
    const range = this.#ranges[at];
    if (range === undefined || range[0] > value) return false;
    const [from, to] = range;
    const rest: [number, number][] = [];
    if (from < value) rest.push([from, value - 1]);
    if (value < to) rest.push([value + 1, to]);
    this.#ranges.splice(at, 1, ...rest);
    this.#size -= 1;
    return true;
  }

  /** Removes all members of another set, in one pass over both. */
  subtract(other: IntervalSet): void {
    const rest: [number, number][] = [];
    let at = 0;
    for (const [start, to] of this.#ranges) {
      let from = start;
      while ((other.#ranges[at]?.[1] ?? Infinity) < from) at += 1;
      // `at` stays at the first range of the other that can reach beyond this one.
      for (
        let cut = other.#ranges[at];
        cut !== undefined && cut[0] <= to;
        cut = other.#ranges[at]
      ) {
        if (from < cut[0]) rest.push([from, cut[0] - 1]);
        from = cut[1] + 1;
        if (cut[1] >= to) break;
        at += 1;
      }
      if (from <= to) rest.push([from, to]);
    }
    this.#ranges = rest;
    this.#size = rest.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  }

  *[Symbol.iterator](): Iterator<number> {
    for (const [from, to] of this.#ranges) {
      for (let value = from; value <= to; value += 1) yield value;
    }
  }

  toString(): string {
    return this.#ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
  }

  /** The position of the first range that ends at or after `value`. */
  #seek(value: number): number {
    let low = 0;
    let high = this.#ranges.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const range = this.#ranges[middle] as [number, number];
      if (range[1] < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
