// Chance that repeats: the same seed, the same numbers, on every machine.

/** Numbers in [0, 1). Marsaglia's xorshift (2003): short, and good enough for workloads. */
export class Dice {
  #state: number;

  /** Any number is a seed. */
  constructor(seed: number) {
    // Neighbouring seeds far apart, and never 0, from which xorshift does not get away.
    this.#state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ (seed >>> 15)) >>> 0 || 1;
    for (let turn = 0; turn < 8; turn += 1) this.roll();
  }

  roll(): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state >>> 0;
    return this.#state / 2 ** 32;
  }

  /** A whole number in [from, to]. */
  between(from: number, to: number): number {
    return from + Math.floor(this.roll() * (to - from + 1));
  }

  /** A value as often near 1 as near 10 or 100: sizes and times of jobs are like that. */
  logarithmic(from: number, to: number): number {
    return from * (to / from) ** this.roll();
  }

  /** Gaps between arrivals that know nothing of each other. */
  exponential(mean: number): number {
    return -mean * Math.log(1 - this.roll());
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.roll() * from.length)] as T;
  }
}
