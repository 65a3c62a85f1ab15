// Instants of the past, as people write them for what has been.

import { parseDuration } from '../../base/duration.ts';
import { usage } from '../../model/failure.ts';
import { parseInstant } from '../submit/instant.ts';

/** A duration counts back from now; a time of day is the last one that was. */
export function instantBefore(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const now = Date.now();
  const ago = /^\d+:/.test(text) ? null : parseDuration(text);
  if (ago?.ok) return now - ago.value;
  const at = parseInstant(text, now);
  if (!at.ok) throw usage(`${flag}: ${at.error}`);
  return /^\d{1,2}:/.test(text) ? at.value - 86_400_000 : at.value;
}
