// Instants of the past, as people write them for what has been.

import { parseDuration } from '../../base/duration.ts';
import { usage } from '../../model/failure.ts';
import { FORMS, parseInstant } from '../submit/instant.ts';

/** A duration counts back from now; a time of day is the last one that was. */
export function instantBefore(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const now = Date.now();
  const ago = /^\d+:/.test(text) ? null : parseDuration(text);
  if (ago?.ok) return now - ago.value;
  if (text === 'today') return midnight(now, 0);
  if (text === 'yesterday') return midnight(now, 1);
  if (text.startsWith('+')) throw usage(`${flag}: '${text}' is in the future; ${PAST_FORMS}`);
  const at = parseInstant(text, now);
  if (!at.ok) throw usage(`${flag}: ${at.error.replace(FORMS, PAST_FORMS)}`);
  return /^\d{1,2}:/.test(text) ? dayBefore(at.value) : at.value;
}

const PAST_FORMS = 'write 2h (ago), 18:30, yesterday, 2026-01-31 or 2026-01-31T18:30';

/** The same time of day on the day before, which is no 24 hours ago where a clock was set. */
function dayBefore(at: number): number {
  const day = new Date(at);
  return day.setDate(day.getDate() - 1);
}

function midnight(now: number, daysAgo: number): number {
  const day = new Date(now);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() - daysAgo).getTime();
}
