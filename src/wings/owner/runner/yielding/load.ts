// How many cpus other programs keep busy, over half a minute: a short burst, as of cron, is no
// use of the machine.

/** The total so far at one look. */
interface Reading {
  readonly monotonic: number;
  readonly cpuMs: number;
}

/** The oldest first; the first one is as old as the window, once that has passed. */
export type Readings = readonly Reading[];

export const LOAD_OVER_MS = 30_000;

export function addReading(readings: Readings, reading: Reading): Readings {
  const all = [...readings, reading];
  const isPast = (one: Reading | undefined): boolean =>
    one !== undefined && reading.monotonic - one.monotonic >= LOAD_OVER_MS;
  let first = 0;
  while (isPast(all[first + 1])) first += 1;
  return all.slice(first);
}

/** In cpus; null: not watched for long enough. */
export function busyCpus(readings: Readings): number | null {
  const first = readings[0];
  const last = readings.at(-1);
  if (first === undefined || last === undefined) return null;
  const spanMs = last.monotonic - first.monotonic;
  return spanMs < LOAD_OVER_MS ? null : Math.max(0, last.cpuMs - first.cpuMs) / spanMs;
}

export function wordsOfLoad(cpus: number): string {
  return `other programs use ${cpus.toFixed(1)} cpus`;
}
