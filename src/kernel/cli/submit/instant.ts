// Instants as people write them on command lines, in the time zone of whoever writes.

import { parseDuration } from '../../base/duration.ts';
import { err, ok, type Result } from '../../base/result.ts';

/** How an instant to come may be written. */
export const FORMS = 'write +2h, 18:30, 2026-01-31 or 2026-01-31T18:30';
/** A date with a time, as people and programs write it: RFC 3339, parts of a second too. */
const DATED =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/;

/** `+2h`, `18:30`, `2026-01-31`, `2026-01-31T18:30`, `tomorrow`, or seconds: `@1750000000`. */
export function parseInstant(text: string, now: number): Result<number, string> {
  const trimmed = text.trim();
  if (trimmed.startsWith('+')) {
    const duration = parseDuration(trimmed.slice(1));
    return duration.ok ? ok(now + duration.value) : duration;
  }
  if (trimmed === 'now') return ok(now);
  if (/^@\d{1,11}$/.test(trimmed)) return ok(Number(trimmed.slice(1)) * 1000);
  const time = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(trimmed);
  if (time !== null) return nextTimeOfDay(time, now, text);
  if (trimmed === 'tomorrow') return ok(new Date(now).setHours(24, 0, 0, 0));
  const dated = DATED.exec(trimmed);
  return dated === null ? err(`'${text}' is not a time; ${FORMS}`) : dateOf(dated, text);
}

function dateOf(match: RegExpExecArray, text: string): Result<number, string> {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const zone = match[7];
  // The 30th of February is read as the 2nd of March by `Date`.
  const date = new Date(Date.UTC(year, month - 1, day));
  if (date.getUTCMonth() !== month - 1 || hour > 23 || minute > 59 || second > 59) {
    return err(`'${text}' is not a date of the calendar; ${FORMS}`);
  }
  if (zone !== undefined) {
    const at = Date.parse(match[0].replace(' ', 'T'));
    return Number.isNaN(at) ? err(`'${text}' has an unknown time zone; write Z or +01:00`) : ok(at);
  }
  return onClock(new Date(year, month - 1, day, hour, minute, second), [hour, minute], text);
}

function nextTimeOfDay(
  [, hours, minutes, seconds]: RegExpExecArray,
  now: number,
  text: string,
): Result<number, string> {
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds ?? 0) > 59) {
    return err(`'${text}' is not a time of day`);
  }
  const at = new Date(now);
  at.setHours(Number(hours), Number(minutes), Number(seconds ?? 0), 0);
  if (at.getTime() <= now) at.setDate(at.getDate() + 1);
  return onClock(at, [Number(hours), Number(minutes)], text);
}

/** What the clock never shows, on a day when it is put forward, was meant otherwise. */
function onClock(
  at: Date,
  [hour, minute]: readonly [hour: number, minute: number],
  text: string,
): Result<number, string> {
  if (at.getHours() === hour && at.getMinutes() === minute) return ok(at.getTime());
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const where = timeZone === undefined ? 'here' : `in ${timeZone}`;
  const words = `'${text}' does not exist: the clock is put forward then ${where}`;
  return err(`${words}; write the time before or after, or with an offset such as +01:00`);
}
