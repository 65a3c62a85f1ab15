// Durations as people write them: `90s`, `1h30m`, `2-12:00:00`, `01:30:00`, `500ms`. In ms inside.

import { err, ok, type Result } from './result.ts';

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const PARTS = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/g;
const CLOCK = /^(?:(\d+)-)?(\d{1,3}):(\d{2})(?::(\d{2}))?$/;

/** What a reader may write; used in every message about a bad duration. */
export const DURATION_FORMS = '90s, 15m, 1h30m, 2d, 01:30:00 or 2-12:00:00';

/** Parses a duration into whole milliseconds. A bare number is refused: its unit is a guess. */
export function parseDuration(text: string): Result<number, string> {
  const trimmed = text.trim();
  if (PARTS.test(trimmed)) {
    let totalMs = 0;
    for (const [, amount, unit] of trimmed.matchAll(PART)) {
      totalMs += Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
    }
    return bounded(Math.round(totalMs), text);
  }
  if (/^[1-9]\d*$/.test(trimmed)) {
    return err(`'${text}' has no unit; write ${trimmed}s, ${trimmed}m for minutes, or ${trimmed}h`);
  }
  const clock = CLOCK.exec(trimmed);
  if (clock === null) return err(`'${text}' is not a duration; write ${DURATION_FORMS}`);
  const [, days, hours, minutes, seconds] = clock;
  if (Number(minutes) > 59 || Number(seconds ?? 0) > 59) {
    return err(`'${text}' has more than 59 minutes or seconds; write ${DURATION_FORMS}`);
  }
  if (days === undefined && seconds === undefined) return err(twoReadings(text, clock));
  const hoursInAll = Number(days ?? 0) * 24 + Number(hours);
  return bounded(((hoursInAll * 60 + Number(minutes)) * 60 + Number(seconds ?? 0)) * 1000, text);
}

/** Slurm reads minutes and seconds, a clock hours and minutes: sixty times as long. */
function twoReadings(text: string, [, , first, second]: RegExpExecArray): string {
  const minutes = Number(first) * 60 + Number(second);
  const asSlurm = formatDuration(minutes * UNIT_MS.s);
  const asClock = formatDuration(minutes * UNIT_MS.m);
  return `'${text}' may mean ${asSlurm}, as Slurm has it, or ${asClock}; write one of these`;
}

function bounded(ms: number, text: string): Result<number, string> {
  // 100 years: anything longer is a slip of the finger, and sums of instants must stay exact.
  if (ms > 100 * 365 * UNIT_MS.d) return err(`'${text}' is longer than 100 years`);
  return ok(ms);
}

/** Formats milliseconds so that `parseDuration` reads the same value back. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  let rest = Math.round(ms);
  let text = '';
  for (const unit of ['d', 'h', 'm', 's', 'ms'] as const) {
    const amount = Math.floor(rest / UNIT_MS[unit]);
    rest -= amount * UNIT_MS[unit];
    if (amount > 0) text += `${amount}${unit}`;
  }
  return text;
}
