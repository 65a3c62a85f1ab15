// Instants as commands of Slurm write them, in the time of this machine.

import { strftime } from './strftime.ts';

/** `2026-11-28T19:59:31`. */
const STANDARD = '%Y-%m-%dT%H:%M:%S';
/** Longer ones Slurm does not take. */
const FORMAT_MAX = 31;
const DAY_MS = 86_400_000;

let formatOf = (_at: number, _now: number): string => STANDARD;

/** Has instants written as `SLURM_TIME_FORMAT` says; false where that is no format. */
export function tellInstantsAs(said = ''): boolean {
  const isFormat = said.includes('%') && said.length <= FORMAT_MAX;
  formatOf = said === 'relative' ? relativeTo : () => (isFormat ? said : STANDARD);
  return isFormat || /^(?:standard|relative)?$/.test(said);
}

export const instant = (at: number | null): string =>
  at === null ? 'N/A' : strftime(formatOf(at, Date.now()), new Date(at));

/** Format of an instant by how near its day is. */
function relativeTo(at: number, now: number): string {
  if (new Date(at).getFullYear() !== new Date(now).getFullYear()) return '%-d %b %Y';
  const days = Math.round((midnight(at) - midnight(now)) / DAY_MS);
  if (days === 0) return '%H:%M:%S';
  if (days === -1) return 'Ystday %H:%M';
  if (days === 1) return 'Tomorr %H:%M';
  return days > 1 && days < 7 ? '%a %H:%M' : '%-d %b %H:%M';
}

const midnight = (at: number): number => new Date(at).setHours(0, 0, 0, 0);

/** `Sat Nov 28 19:59:31 2026`, as of ctime(3). */
export const dateLine = (now: number): string => strftime('%a %b %d %H:%M:%S %Y', new Date(now));
