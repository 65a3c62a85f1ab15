// One figure of a node over a year: each look for a day, then means and peaks of a minute for a
// month, and of ten minutes for the year. How much that is does not depend on what happens.

import type { Chunk } from '../model/chunk.ts';
import { LOOK_MS } from '../model/look.ts';
import { codeOf } from './level-code.ts';
import { Line } from './line.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export interface Level {
  readonly stepMs: number;
  readonly keepMs: number;
  /** Numbers of its columns. */
  readonly mean: number;
  readonly peak: number;
  /** Steps of a chunk. */
  readonly steps: number;
}

/** Finest first. Of single looks the mean is the peak. */
export const LEVELS: readonly Level[] = [
  { stepMs: LOOK_MS, keepMs: DAY_MS, mean: 0, peak: 0, steps: 360 },
  { stepMs: 60_000, keepMs: 30 * DAY_MS, mean: 1, peak: 2, steps: 720 },
  { stepMs: 600_000, keepMs: 365 * DAY_MS, mean: 3, peak: 4, steps: 1008 },
];

/** What was written of a chunk of a column before. */
export type Earlier = (line: number, start: number) => Uint8Array | null;

/** What is coming together for one step of a coarser level. */
interface Sum {
  step: number;
  amount: number;
  peak: number;
  count: number;
}

interface Coarse {
  readonly mean: Line;
  /** Null: of this figure means say enough. */
  readonly peak: Line | null;
  sum: Sum | null;
}

export class Track {
  readonly #fine: Line;
  readonly #coarse: readonly Coarse[];

  /** `hasPeaks` false: half of what it costs on the disk. */
  constructor({ hasPeaks = true }: { readonly hasPeaks?: boolean } = {}) {
    const [finest, ...others] = LEVELS as [Level, ...Level[]];
    this.#fine = new Line(finest.mean, finest.stepMs, finest.steps);
    this.#coarse = others.map(({ stepMs, steps, mean, peak }) => ({
      mean: new Line(mean, stepMs, steps),
      peak: hasPeaks ? new Line(peak, stepMs, steps) : null,
      sum: null,
    }));
  }

  /** Adds a look; chunks that are complete by it are to be kept. */
  add(at: number, amount: number, earlier: Earlier): Chunk[] {
    const of = (line: Line, step: number, code: number): Chunk[] => {
      const done = line.add(step, code, (start) => earlier(line.number, start));
      return done === null ? [] : [done];
    };
    const done = of(this.#fine, Math.floor(at / this.#fine.stepMs), codeOf(amount));
    for (const coarse of this.#coarse) {
      const step = Math.floor(at / coarse.mean.stepMs);
      const before = coarse.sum;
      if (before !== null && before.step === step) {
        before.amount += amount;
        before.count += 1;
        before.peak = Math.max(before.peak, amount);
        continue;
      }
      if (before !== null) {
        done.push(...of(coarse.mean, before.step, codeOf(before.amount / before.count)));
        if (coarse.peak !== null) done.push(...of(coarse.peak, before.step, codeOf(before.peak)));
      }
      coarse.sum = { step, amount, peak: amount, count: 1 };
    }
    return done;
  }

  /** Chunks that have grown since they were asked for. */
  grown(): Chunk[] {
    return this.lines.flatMap((line) => line.open() ?? []);
  }

  get lines(): readonly Line[] {
    return [this.#fine, ...this.#coarse.flatMap(({ mean, peak }) => (peak ? [mean, peak] : mean))];
  }
}

/** The steps of an answer. */
export interface Grid {
  readonly level: Level;
  /** Step of the level at which it begins. */
  readonly first: number;
  /** How many steps of the level are one of the answer. */
  readonly merged: number;
  readonly count: number;
}

/** From then, or from when on anything is kept, up to now, in at most so many steps. */
export function gridFor(from: number, now: number, stepsMax: number): Grid {
  const level = levelFor(from, now, stepsMax - 1);
  const { stepMs, keepMs } = level;
  const begin = Math.floor(Math.min(now, Math.max(from, now - keepMs)) / stepMs);
  const end = Math.floor(now / stepMs) + 1;
  // Groups begin at the same instants whenever they are asked for: the first may begin before.
  const merged = end - begin <= stepsMax ? 1 : Math.ceil((end - begin) / (stepsMax - 1));
  const first = begin - (begin % merged);
  return { level, first, merged, count: Math.ceil((end - first) / merged) };
}

/** The finest level that still has what was at `from`, in at most so many steps. */
export function levelFor(from: number, now: number, stepsMax: number): Level {
  const enough = LEVELS.find(({ stepMs, keepMs }) => {
    return now - from <= keepMs && (now - from) / stepMs <= stepsMax;
  });
  return enough ?? (LEVELS.at(-1) as Level);
}
