// Amounts and instants as the page writes them, in the reader's time zone.

import { formatSize } from '../../base/size.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** `4m12s`, `3h07m`, `2d04h`: two units are enough to read. */
export function spanWords(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}ms`;
  if (ms < MINUTE_MS) return `${Math.floor(ms / 1000)}s`;
  const [big, small, units] =
    ms < HOUR_MS
      ? [Math.floor(ms / MINUTE_MS), Math.floor((ms % MINUTE_MS) / 1000), 'ms']
      : ms < DAY_MS
        ? [Math.floor(ms / HOUR_MS), Math.floor((ms % HOUR_MS) / MINUTE_MS), 'hm']
        : [Math.floor(ms / DAY_MS), Math.floor((ms % DAY_MS) / HOUR_MS), 'dh'];
  return `${big}${units[0]}${String(small).padStart(2, '0')}${units[1]}`;
}

/** `0.42ms`, `66ms`, `4m12s`: short ones in full. */
export function latencyWords(ms: number): string {
  return ms < 10 ? `${ms.toPrecision(2)}ms` : spanWords(ms);
}

/** The clock today, else day and clock; with the year when it is another. */
export function instantWords(at: number, now: number, zone?: string): string {
  const stamp = stampOf(zone);
  const [date = '', clock = ''] = stamp.format(at).split(' ');
  const today = stamp.format(now);
  if (today.startsWith(date)) return clock;
  const isYear = today.slice(0, 4) === date.slice(0, 4);
  return `${isYear ? date.slice(5) : date} ${clock.slice(0, 5)}`;
}

/** `2026-11-22 17:20:03`. Kept: making one costs more than a row of a table. */
const stampOf = kept((timeZone) => {
  const of = timeZone === undefined ? {} : { timeZone };
  return new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', ...of });
});

const offsetOf = kept((timeZone) => {
  const of = timeZone === undefined ? {} : { timeZone };
  return new Intl.DateTimeFormat('en', { timeZoneName: 'longOffset', ...of });
});

function kept(make: (zone?: string) => Intl.DateTimeFormat) {
  const made = new Map<string | undefined, Intl.DateTimeFormat>();
  return (zone?: string): Intl.DateTimeFormat => {
    const format = made.get(zone) ?? make(zone);
    made.set(zone, format);
    return format;
  };
}

/** For an axis: the clock today, the day at midnight, else both. */
export function axisWords(at: number, now: number, zone?: string): string {
  const words = instantWords(at, now, zone);
  if (/^\d\d:\d\d:\d\d$/.test(words)) return words.replace(/:00$/, '');
  return words.replace(/ 00:00$/, '');
}

/** `2026-11-22 17:20:03 UTC+01:00`. */
export function fullInstant(at: number, zone?: string): string {
  return `${stampOf(zone).format(at)} ${zoneName(at, zone)}`;
}

/** `UTC+01:00`. */
export function zoneName(at: number, zone?: string): string {
  const parts = offsetOf(zone).formatToParts(at);
  const offset = parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
  return offset === 'GMT' ? 'UTC' : offset.replace('GMT', 'UTC');
}

/** Words of the head with its instants, which are of no zone, as the reader's clock shows them. */
export function ownClock(text: string, now: number, zone?: string): string {
  return text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (instant) =>
    instantWords(Date.parse(instant), now, zone),
  );
}

/** `12,345`. */
export function countWords(count: number): string {
  return count.toLocaleString('en');
}

/** `1 job`, `2 jobs`. */
export function some(count: number, one: string, many = `${one}s`): string {
  return `${countWords(count)} ${count === 1 ? one : many}`;
}

/** `1.5G`, `0`. */
export function sizeWords(bytes: number): string {
  return bytes === 0 ? '0' : formatSize(bytes);
}

/** `37%`; of nothing `0%`. */
export function shareWords(part: number, whole: number): string {
  return whole === 0 ? '0%' : `${Math.round((100 * part) / whole)}%`;
}

/** `exit 3`, `signal 9`; empty when it went well or nothing is known. */
export function exitWords(exit: { code?: number; signal?: number } | null): string {
  if (exit === null) return '';
  if (exit.signal !== undefined) return `signal ${exit.signal}`;
  return exit.code === undefined || exit.code === 0 ? '' : `exit ${exit.code}`;
}

interface End {
  readonly exit: { code?: number; signal?: number } | null;
  readonly outcome: { readonly kind: string; readonly detail?: string | null | undefined } | null;
}

/**
 * Beside the word for an end, said once: `exit 3` where the program decided it, with what the head
 * says of files that are lost; else why the cluster ended it, and not with which signal.
 */
export function endWords({ exit, outcome }: End): string {
  const detail = outcome?.detail ?? '';
  const ended = exitWords(exit);
  const isOwn = outcome?.kind === 'failed' || outcome?.kind === 'completed';
  if (!isOwn || ended === '') return detail || ended;
  const [lost = ''] = /not kept, as outside .*/.exec(detail) ?? [];
  return [ended, lost].filter(Boolean).join('; ');
}

/** `staging_in` as people say it. */
export function plainWord(word: string): string {
  return word.replaceAll('_', ' ');
}

/** What a login by a link says when somebody else was logged in here before; null: nothing. */
export function switchWords(before: string | null, now: string | null): string | null {
  if (before === null || now === null || before === now) return null;
  return `A link has logged you in as ${now}; before, you were ${before} here. Log out if you did not want that.`;
}
