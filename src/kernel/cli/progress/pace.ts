// How fast something goes, and how long it will take, from a few looks at it. Pure.

export interface Look {
  readonly atMs: number;
  readonly done: number;
}

export interface Pace {
  readonly perMs: number;
  /** At this rate. */
  readonly leftMs: number;
}

/**
 * The looks with a new one, without those that say little of what comes: older than `overMs`. Where
 * these are all, the last stays: looks as far apart as that, and a little late, have one to reckon
 * from.
 */
export function withLook(looks: readonly Look[], look: Look, overMs: number): Look[] {
  const from = looks.findIndex(({ atMs }) => atMs >= look.atMs - overMs);
  return [...looks.slice(from), look];
}

/** Returns null when nothing has moved between the first look and the last, so nobody can tell. */
export function paceOf(looks: readonly Look[], total: number): Pace | null {
  const first = looks[0];
  const last = looks.at(-1);
  if (first === undefined || last === undefined) return null;
  const perMs = (last.done - first.done) / Math.max(1, last.atMs - first.atMs);
  return perMs <= 0 ? null : { perMs, leftMs: Math.max(0, total - last.done) / perMs };
}

const PLAIN_FIRST_MS = 60_000;
const PLAIN_GAP_MAX_MS = 600_000;

/**
 * When the nth plain line (from 0) is due where nobody looks on, from the begin: after 1, 2, 4, 8
 * minutes, then each ten more. What is short says nothing, what takes days fills no log.
 */
export function plainDueMs(nth: number): number {
  const doubled = PLAIN_FIRST_MS * 2 ** Math.min(nth, 3);
  return doubled + Math.max(0, nth - 3) * PLAIN_GAP_MAX_MS;
}
