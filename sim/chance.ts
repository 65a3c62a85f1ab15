// The one source of chance in a simulated run: a small generator that gives the same numbers for
// the same seed, for ever and everywhere; and its streams, one for whatever draws.

import { createHash } from 'node:crypto';
import type { Chance } from '../src/kernel/ports/chance.ts';

/** sfc32 (public domain, Chris Doty-Humphrey): fast, 128 bits of state, passes PractRand. */
export class Dice implements Chance {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;
  readonly #pace: number;

  /** @param pace how many times as long all lasts that lasts a while (`span`, `waitMs`) */
  constructor(seed: number, pace = 1) {
    this.#pace = pace;
    this.#a = seed | 0;
    this.#b = Math.floor(seed / 0x1_0000_0000) | 0;
    this.#c = 0x9e37_79b9;
    for (let round = 0; round < 15; round += 1) this.#next();
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

  /** How long something lasts: as `whole`, at the pace of the run. */
  span(minMs: number, maxMs: number): number {
    return this.#pace * this.whole(minMs, maxMs);
  }

  /** A waiting time with this mean, as between independent events, at the pace of the run. */
  waitMs(meanMs: number): number {
    return Math.ceil(-Math.log(1 - this.fraction()) * meanMs * this.#pace);
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

/**
 * Named streams of chance: what one gives depends on the seed and its name alone. Whatever is new
 * in the simulator draws from a name of its own, and so shifts nothing of what old seeds have
 * drawn.
 */
export class Streams {
  readonly #seed: number;
  readonly #path: string;
  readonly #pace: number;
  /** By their whole names. */
  readonly #dice: Map<string, Dice>;

  constructor(seed: number, path = '', pace = 1, dice = new Map<string, Dice>()) {
    this.#seed = seed;
    this.#path = path;
    this.#pace = pace;
    this.#dice = dice;
  }

  /** The stream of this name; asked for again it goes on where it is. */
  of(name: string): Dice {
    const whole = `${this.#path}${name}`;
    const known = this.#dice.get(whole);
    if (known !== undefined) return known;
    const digest = createHash('sha256').update(`${this.#seed} ${whole}`).digest();
    const dice = new Dice(digest.readUIntBE(0, 6), this.#pace);
    this.#dice.set(whole, dice);
    return dice;
  }

  /** The streams whose names begin with this word. */
  under(word: string): Streams {
    return new Streams(this.#seed, `${this.#path}${word} `, this.#pace, this.#dice);
  }
}
