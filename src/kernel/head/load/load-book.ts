// How much of the cluster was in use, and how much waited, over the last day: means over steps,
// finer for the last hour. And how many jobs ended how. Bounded, whatever the cluster does; time is
// an argument.

import type { LoadPoint } from '../../api/cluster.ts';

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;

/** The width of a step, and for how long steps of this width are kept. */
interface Grain {
  readonly stepMs: number;
  readonly spanMs: number;
}

/** What somebody sees come, and what a day looks like: 240 and 288 steps. */
const FINE: Grain = { stepMs: 15 * SECOND_MS, spanMs: HOUR_MS };
const COARSE: Grain = { stepMs: 300 * SECOND_MS, spanMs: 24 * HOUR_MS };

/** How long the ends of jobs are counted. */
export const ENDS_MS = COARSE.spanMs;

/** What is seen at one look. */
export interface LoadSample {
  readonly cpus: number;
  readonly cpusTotal: number;
  readonly waiting: number;
}

/** The looks of one step, added up. */
type Sum = { -readonly [K in keyof LoadSample]: number } & { looks: number };

/** Numbers of steps with what was in them, for a file. */
export interface KeptLoad {
  readonly fine: readonly (readonly [number, Sum])[];
  readonly coarse: readonly (readonly [number, Sum])[];
  readonly ends: readonly (readonly [number, Readonly<Record<string, number>>])[];
  /** Ends of jobs up to this instant are in it. */
  readonly countedUntil: number;
}

export class LoadBook {
  readonly #fine = new Map<number, Sum>();
  readonly #coarse = new Map<number, Sum>();
  readonly #ends = new Map<number, Record<string, number>>();
  #countedUntil: number;

  /** `from`: ends of jobs before that are not counted. */
  constructor(from: number, kept: KeptLoad | null = null) {
    this.#countedUntil = kept?.countedUntil ?? from;
    for (const [step, sum] of kept?.fine ?? []) this.#fine.set(step, { ...sum });
    for (const [step, sum] of kept?.coarse ?? []) this.#coarse.set(step, { ...sum });
    for (const [step, counts] of kept?.ends ?? []) this.#ends.set(step, { ...counts });
  }

  get countedUntil(): number {
    return this.#countedUntil;
  }

  look(at: number, sample: LoadSample): void {
    addTo(this.#fine, FINE, at, sample);
    addTo(this.#coarse, COARSE, at, sample);
    dropOutside(this.#ends, COARSE, at);
  }

  /** A job ended; `outcome` in one word. */
  ended(at: number, outcome: string): void {
    const step = Math.floor(at / COARSE.stepMs);
    const counts = this.#ends.get(step) ?? {};
    counts[outcome] = (counts[outcome] ?? 0) + 1;
    this.#ends.set(step, counts);
    this.#countedUntil = Math.max(this.#countedUntil, at);
  }

  /** The oldest first: a day in long steps, of which the last hour is in short ones. */
  points(now: number): LoadPoint[] {
    const finest = Math.min(...this.#fine.keys()) * FINE.stepMs;
    const isBefore = ({ at, ms }: LoadPoint): boolean => at + ms <= finest;
    const day = pointsOf(this.#coarse, COARSE, now).filter(isBefore);
    return [...day, ...pointsOf(this.#fine, FINE, now)];
  }

  /** How many jobs ended how within the last day. */
  ends(now: number): Record<string, number> {
    const sums: Record<string, number> = {};
    for (const [step, counts] of this.#ends) {
      if (!isWithin(step, COARSE, now)) continue;
      for (const [outcome, count] of Object.entries(counts))
        sums[outcome] = (sums[outcome] ?? 0) + count;
    }
    return sums;
  }

  kept(): KeptLoad {
    const { countedUntil } = this;
    return {
      fine: [...this.#fine],
      coarse: [...this.#coarse],
      ends: [...this.#ends],
      countedUntil,
    };
  }
}

function addTo(sums: Map<number, Sum>, grain: Grain, at: number, sample: LoadSample): void {
  const step = Math.floor(at / grain.stepMs);
  const sum = sums.get(step) ?? { cpus: 0, cpusTotal: 0, waiting: 0, looks: 0 };
  sum.cpus += sample.cpus;
  sum.cpusTotal += sample.cpusTotal;
  sum.waiting += sample.waiting;
  sum.looks += 1;
  if (sum.looks === 1) dropOutside(sums, grain, at);
  sums.set(step, sum);
}

/** What is too old; and what a clock that was set back has left ahead of now. */
function dropOutside(steps: Map<number, unknown>, grain: Grain, now: number): void {
  for (const step of steps.keys()) if (!isWithin(step, grain, now)) steps.delete(step);
}

function isWithin(step: number, { stepMs, spanMs }: Grain, now: number): boolean {
  const from = step * stepMs;
  return from <= now && from > now - spanMs - stepMs;
}

function pointsOf(sums: ReadonlyMap<number, Sum>, grain: Grain, now: number): LoadPoint[] {
  return [...sums]
    .filter(([step]) => isWithin(step, grain, now))
    .sort(([one], [other]) => one - other)
    .map(([step, { cpus, cpusTotal, waiting, looks }]) => ({
      at: step * grain.stepMs,
      ms: grain.stepMs,
      cpus: mean(cpus, looks),
      cpusTotal: mean(cpusTotal, looks),
      waiting: mean(waiting, looks),
    }));
}

/** To a hundredth: more is never drawn. */
function mean(sum: number, looks: number): number {
  return Math.round((sum / looks) * 100) / 100;
}

/** Returns null when none, or nothing that this release has written. */
export function readLoad(text: string): KeptLoad | null {
  try {
    const kept = JSON.parse(text) as Partial<KeptLoad> | null;
    if (kept === null || !isSums(kept.fine) || !isSums(kept.coarse) || !isPairs(kept.ends))
      return null;
    return typeof kept.countedUntil === 'number' ? (kept as KeptLoad) : null;
  } catch {
    return null;
  }
}

function isPairs(value: unknown): value is (readonly [number, Record<string, unknown>])[] {
  const isPair = (one: unknown): boolean =>
    Array.isArray(one) && Number.isInteger(one[0]) && typeof one[1] === 'object' && one[1] !== null;
  return Array.isArray(value) && value.every(isPair);
}

function isSums(value: unknown): boolean {
  const fields = ['cpus', 'cpusTotal', 'waiting', 'looks'];
  return (
    isPairs(value) &&
    value.every(([, sum]) => fields.every((field) => typeof sum[field] === 'number'))
  );
}
