// A column as an answer shows it: neighbouring steps as one where there are more than it may have.

import type { Point } from '../model/look.ts';
import { amountOf } from './level-code.ts';
import type { Grid } from './track.ts';

export class Merged {
  readonly #grid: Grid;
  readonly #sums: Float64Array;
  readonly #peaks: Float64Array;
  readonly #counts: Uint32Array;

  constructor(grid: Grid) {
    this.#grid = grid;
    this.#sums = new Float64Array(grid.count);
    this.#peaks = new Float64Array(grid.count);
    this.#counts = new Uint32Array(grid.count);
  }

  /** Each step is added once. */
  add(start: number, codes: readonly number[]): void {
    const { first, count, merged } = this.#grid;
    codes.forEach((code, at) => {
      const place = Math.floor((start + at - first) / merged);
      const amount = place >= 0 && place < count ? amountOf(code) : null;
      if (amount === null) return;
      this.#sums[place] = (this.#sums[place] ?? 0) + amount;
      this.#peaks[place] = Math.max(this.#peaks[place] ?? 0, amount);
      this.#counts[place] = (this.#counts[place] ?? 0) + 1;
    });
  }

  means(): Point[] {
    return this.#points((at, count) => (this.#sums[at] ?? 0) / count);
  }

  peaks(): Point[] {
    return this.#points((at) => this.#peaks[at] ?? 0);
  }

  #points(of: (at: number, count: number) => number): Point[] {
    return Array.from(this.#counts, (count, at) =>
      count === 0 ? null : Math.round(of(at, count)),
    );
  }
}
