// Instants, spans, exits and amounts in words for tables.

import { formatDuration } from '../../base/duration.ts';
import { SIGNALS } from '../../model/signals.ts';

const DAY_MS = 86_400_000;

/** `14:03:22` today, `Nov 20 14:03` within 300 days, else the date, with the time if to come. */
export function formatInstant(at: number | null | undefined, now: number): string {
  if (at === null || at === undefined) return '-';
  const date = new Date(at);
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`;
  const zone = zoneIfTwice(date);
  if (Math.abs(now - at) < DAY_MS && date.getDate() === new Date(now).getDate()) {
    return `${time}:${two(date.getSeconds())}${zone}`;
  }
  if (Math.abs(now - at) < 300 * DAY_MS)
    return `${MONTHS[date.getMonth()]} ${date.getDate()} ${time}${zone}`;
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  // Of long ago the day is enough, as `ls -l` has it; what is to come has its hour.
  return at > now ? `${day} ${time}${zone}` : day;
}

/** `+02:00` in the hours that come twice when the clock is put back: ends look earlier there. */
function zoneIfTwice(date: Date): string {
  const isTwice = [-3_600_000, 3_600_000].some((ms) => {
    return new Date(date.getTime() + ms).getHours() === date.getHours();
  });
  if (!isTwice) return '';
  const minutes = -date.getTimezoneOffset();
  const [hours, rest] = [Math.abs(minutes) / 60, Math.abs(minutes) % 60].map(Math.floor);
  return `${minutes < 0 ? '-' : '+'}${two(hours)}:${two(rest)}`;
}

const two = (value = 0): string => String(value).padStart(2, '0');

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Two units at most: `2d3h`, `1h5m`, `42s`, `0.3s`. */
export function formatSpan(ms: number): string {
  if (ms < 0) return '0s';
  if (ms < 10_000) return `${(Math.floor(ms / 100) / 10).toFixed(1).replace(/\.0$/, '')}s`;
  const unit = [DAY_MS, 3_600_000, 60_000, 1000].find((size) => ms >= size) ?? 1000;
  const next = unit === DAY_MS ? 3_600_000 : unit === 3_600_000 ? 60_000 : 1000;
  return formatDuration(Math.floor(ms / next) * next);
}

export function signalName(number: number): string {
  const found = Object.entries(SIGNALS).find(([, value]) => value === number);
  return found?.[0] ?? `signal ${number}`;
}

/** `exit 3`, `killed by KILL`, or nothing. */
export function formatExit(exit: { code?: number; signal?: number } | null | undefined): string {
  if (exit?.signal !== undefined) return `killed by ${signalName(exit.signal)}`;
  return exit?.code === undefined ? '' : `exit ${exit.code}`;
}
