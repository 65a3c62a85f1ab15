// When a disk will be full, by how much of it was free lately.

/** `at`: ms since 1970. */
export interface Look {
  readonly at: number;
  readonly freeBytes: number;
}

/** Two weeks of hours: a weekend is in it, and a month that was unlike this one is not. */
export const LOOKS_MAX = 336;
export const LOOK_MS = 3_600_000;
/** Less than a day says how one morning was. */
const SPAN_MIN_MS = 24 * LOOK_MS;

/** Bytes that it loses in a ms, by the straight line nearest to all looks; null: too few. */
export function lossOf(looks: readonly Look[]): number | null {
  const [first, last] = [looks[0], looks.at(-1)];
  if (first === undefined || last === undefined) return null;
  if (last.at - first.at < SPAN_MIN_MS) return null;
  const count = looks.length;
  const meanAt = looks.reduce((sum, { at }) => sum + at / count, 0);
  const meanFree = looks.reduce((sum, { freeBytes }) => sum + freeBytes / count, 0);
  let together = 0;
  let spread = 0;
  for (const { at, freeBytes } of looks) {
    together += (at - meanAt) * (freeBytes - meanFree);
    spread += (at - meanAt) ** 2;
  }
  return -together / spread;
}

/** Null: it does not get fuller, or too little is known. */
export function fullAt(looks: readonly Look[]): number | null {
  const loss = lossOf(looks);
  const last = looks.at(-1);
  if (loss === null || loss <= 0 || last === undefined) return null;
  return Math.round(last.at + last.freeBytes / loss);
}
