// A clock of the head that somebody has set, in words, for `weft info` and `weft doctor`.

import type { InfoReply } from '../../api/cluster.ts';
import { formatInstant, formatSpan } from './words.ts';

/** How long a set clock is mentioned: the next day people still want to know. */
const TOLD_MS = 86_400_000;

/** Each time that it was set lately, the last one last. */
export function clockSetWords({ clockSteps = [], head: { now } }: InfoReply): string[] {
  return clockSteps
    .filter(({ at }) => now - at < TOLD_MS)
    .map(({ at, byMs }) => {
      const way = byMs < 0 ? 'back' : 'forward';
      const span = formatSpan(Math.round(Math.abs(byMs) / 1000) * 1000);
      return `its clock was set ${way} by ${span} at ${formatInstant(at, now)}`;
    });
}
