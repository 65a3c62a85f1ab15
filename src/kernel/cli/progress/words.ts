// How far something is, in one line. Pure.

import { formatBytes } from '../../base/size.ts';
import { formatSpan } from '../output/words.ts';
import type { Pace } from './pace.ts';

/** What is counted, and how many are in which state or have ended how. */
export interface Counted {
  /** `job 42`, `lab/heat`. */
  readonly whose: string;
  /** `tasks`, `jobs`. */
  readonly what: string;
  readonly total: number;
  /** Those that completed. */
  readonly done: number;
  readonly failed: number;
  /** Those that ended in any way. */
  readonly ended: number;
  /** Those that are not done, by state. */
  readonly rest: readonly (readonly [state: string, count: number])[];
}

/** `job 42: 117 of 1000 tasks done, 3 failed, 4.2/s, 3m28s left; 8 running, 872 pending`. */
export function countWords(
  { whose, what, total, ended, done, failed, rest }: Counted,
  pace: Pace | null,
) {
  const far = `${whose}: ${done} of ${total} ${what} done`;
  const bad = failed > 0 ? `, ${failed} failed` : '';
  const states = rest
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${state.replaceAll('_', ' ')}`);
  const behind = states.length === 0 ? '' : `; ${states.join(', ')}`;
  const fast = pace === null || ended >= total ? '' : paceWords(pace, rateWords(pace.perMs));
  return `${far}${bad}${fast}${behind}`;
}

/** `sending 1.2G of 3.4G (35%), 120M/s, 18s left`. */
export function byteWords(verb: string, done: number, total: number, pace: Pace | null): string {
  const shown = Math.min(done, total);
  const percent = total === 0 ? 100 : Math.floor((100 * shown) / total);
  const far = `${verb} ${formatBytes(shown)} of ${formatBytes(total)} (${percent}%)`;
  if (pace === null) return far;
  return far + paceWords(pace, `${formatBytes(Math.round(pace.perMs * 1000))}/s`);
}

function paceWords({ leftMs }: Pace, rate: string): string {
  return `, ${rate}, ${formatSpan(leftMs)} left`;
}

const UNITS = [
  ['s', 1000],
  ['min', 60_000],
  ['h', 3_600_000],
] as const;

/** In the unit of time in which it is at least one; else by the hour. */
function rateWords(perMs: number): string {
  const [unit, ms] = UNITS.find(([, length]) => perMs * length >= 1) ?? UNITS[2];
  const rate = perMs * ms;
  return `${rate < 10 ? rate.toFixed(1).replace(/\.0$/, '') : Math.round(rate)}/${unit}`;
}
