// Times as Slurm's commands read and write them (sbatch(1), squeue(1)).

import { err, ok, type Result } from '../../../kernel/base/result.ts';

const LIMIT = /^(?:(\d+)-(\d+)(?::(\d+))?(?::(\d+))?|(\d+)(?::(\d+))?(?::(\d+))?)$/;
const DAY_S = 86_400;

/**
 * A time limit in ms: minutes, minutes:seconds, hours:minutes:seconds, days-hours,
 * days-hours:minutes, days-hours:minutes:seconds. Null: none.
 */
export function parseLimit(text: string): Result<number | null, string> {
  if (/^(?:0|-1|infinite|unlimited)$/i.test(text)) return ok(null);
  const found = LIMIT.exec(text);
  if (found === null) return err(`Invalid time limit specification: ${text}`);
  const [, days, hours, minutes, seconds, first, second, third] = found.map((one) =>
    one === undefined ? undefined : Number(one),
  );
  if (days !== undefined) {
    return ok(1000 * (days * DAY_S + (hours ?? 0) * 3600 + (minutes ?? 0) * 60 + (seconds ?? 0)));
  }
  const all = third === undefined ? [0, first, second] : [first, second, third];
  const [h = 0, m = 0, s = 0] = all.map((one) => one ?? 0);
  return ok(1000 * (h * 3600 + m * 60 + s));
}

/** How long something ran, in squeue: `4:07`, `1:02:03`, `2-00:00:05`. */
export function formatElapsed(ms: number): string {
  const { days, clock } = split(ms);
  const [hours = 0, minutes = 0, seconds = 0] = clock;
  if (days > 0) return `${days}-${clock.map(two).join(':')}`;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}

/** The same in sacct: `00:04:07`, `2-00:00:05`. */
export function formatLong(ms: number): string {
  const { days, clock } = split(ms);
  return `${days > 0 ? `${days}-` : ''}${clock.map(two).join(':')}`;
}

/** Time of a processor in sacct: `00:04.120`, `01:02:03`, `2-00:00:05`. */
export function formatUsed(ms: number): string {
  const { days, clock } = split(ms);
  const [hours = 0, minutes = 0, seconds = 0] = clock;
  if (days > 0 || hours > 0) return formatLong(ms);
  const rest = String(Math.floor(Math.max(0, ms)) % 1000).padStart(3, '0');
  return `${two(minutes)}:${two(seconds)}.${rest}`;
}

function split(ms: number): { readonly days: number; readonly clock: readonly number[] } {
  const all = Math.max(0, Math.floor(ms / 1000));
  const rest = all % DAY_S;
  const clock = [Math.floor(rest / 3600), Math.floor(rest / 60) % 60, rest % 60];
  return { days: Math.floor(all / DAY_S), clock };
}

const two = (value: number): string => String(value).padStart(2, '0');
