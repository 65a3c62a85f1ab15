// Instants on the axis of the schedule, by the reader's clock.

import { formatInstant } from '../output/words.ts';

/** From UTC to the reader's zone, then. */
export function zoneMs(at: number): number {
  return -new Date(at).getTimezoneOffset() * 60_000;
}

/** `14:00`, `14:00:30`, `Nov 22 14:00`: no seconds and no time of day where they are none. */
export function axisWords(at: number, now: number): string {
  const words = formatInstant(at, now);
  if (/^\d\d:\d\d:\d\d$/.test(words)) return words.replace(/:00$/, '');
  return words.replace(/ 00:00$/, '');
}

/** `UTC+01:00`. */
export function zoneWords(at: number): string {
  const minutes = zoneMs(at) / 60_000;
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const size = Math.abs(minutes);
  return minutes === 0 ? 'UTC' : `UTC${minutes < 0 ? '-' : '+'}${two(size / 60)}:${two(size % 60)}`;
}

/** `2026-01-31 14:03:22 UTC+01:00`. */
export function dateWords(at: number): string {
  const local = new Date(at + zoneMs(at)).toISOString();
  return `${local.slice(0, 19).replace('T', ' ')} ${zoneWords(at)}`;
}
