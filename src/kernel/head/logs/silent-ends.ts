// Outputs that are over and are nothing, as most are: a number each, for tens of thousands.

import type { LogPlace } from './log-path.ts';

/** Remembered at least; up to twice as many. */
const KEPT_MIN = 50_000;
/** More than any array has indices. */
const INDICES = 2 ** 31;

type Process = Omit<LogPlace, 'stream'>;

export class SilentEnds {
  /** Starts of a job's tasks whose only process wrote nothing, by job; and those before them. */
  #newest = new Map<number, Set<number>>();
  #older = new Map<number, Set<number>>();
  #count = 0;
  readonly #keptMin: number;

  constructor(keptMin = KEPT_MIN) {
    this.#keptMin = keptMin;
  }

  /** False: it is not one of those that are remembered here. */
  add(process: Process): boolean {
    const key = keyOf(process);
    if (key === null) return false;
    if (this.#count >= this.#keptMin) this.#turnOver();
    const { jobId } = process.place;
    const known = this.#newest.get(jobId);
    if (known === undefined) this.#newest.set(jobId, new Set([key]));
    else known.add(key);
    this.#count += 1;
    return true;
  }

  has(process: Process): boolean {
    const key = keyOf(process);
    if (key === null) return false;
    const { jobId } = process.place;
    const isNew = this.#newest.get(jobId)?.has(key) === true;
    return isNew || this.#older.get(jobId)?.has(key) === true;
  }

  #turnOver(): void {
    this.#older = this.#newest;
    this.#newest = new Map();
    this.#count = 0;
  }
}

/** Null: of a task of several processes, or out of any measure. */
function keyOf({ place, epoch, nodeRank, rank }: Process): number | null {
  if (nodeRank !== 0 || rank !== 0) return null;
  const key = (epoch - 1) * INDICES + (place.index ?? 0);
  return Number.isSafeInteger(key) ? key : null;
}
