// How long something takes, and when something is, in answers about what waits.

import { formatDuration } from '../../../base/duration.ts';
import { formatInstant } from '../../../base/instant.ts';

/** Whole seconds, never none. */
export function spanWords(ms: number): string {
  return formatDuration(Math.max(1, Math.ceil(ms / 1000)) * 1000);
}

/** `2026-01-01T10:00:00Z, in 25m`. */
export function instantWords(at: number, now: number): string {
  const seconds = Math.max(0, Math.ceil((at - now) / 1000));
  const span = seconds === 0 ? 'now' : `in ${formatDuration(seconds * 1000)}`;
  return `${formatInstant(at)}, ${span}`;
}
