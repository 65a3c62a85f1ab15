// The one source of chance in a simulated run: a small generator that gives the same numbers for
// the same seed, for ever and everywhere.

import type { Chance } from '../src/ports/chance.ts';

/** sfc32 (public domain, Chris Doty-Humphrey): fast, 128 bits of state, passes PractRand. */
export class Dice implements Chance {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number) {
    this.#a = seed | 0;
    this.#b = Math.floor(seed / 0x1_0000_0000) | 0;
    this.#c = 0x9e37_79b9;
    for (let round = 0; round < 15; round += 1) this.#next();
  }

  /** A generator of its own: more draws from one do not shift the draws of the other. */
  fork(): Dice {
    return new Dice((this.#next() >>> 0) * 0x20_0000 + (this.#next() >>> 11));
  }

  fraction(): number {
    return (this.#next() >>> 0) / 0x1_0000_0000;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.#next() & 0xff);
  }

  /** From `min` to `max`, both included. */
  whole(min: number, max: number): number {
    return min + Math.floor(this.fraction() * (max - min + 1));
  }

  /** True with this probability. */
  happens(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** One of the list, which must not be empty. */
  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.fraction() * list.length)] as T;
  }

  /** A waiting time with this mean, as between independent events. */
  waitMs(meanMs: number): number {
    return Math.ceil(-Math.log(1 - this.fraction()) * meanMs);
  }

  #next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    this.#c |= 0;
    return sum;
  }
}
