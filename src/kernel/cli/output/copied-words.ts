// A head whose store was copied to where it is, in words, for `weft info` and `weft doctor`.

import type { InfoReply } from '../../api/cluster.ts';
import { formatInstant } from './words.ts';

/** A day: somebody who looks tomorrow still wants to know. */
const TOLD_MS = 86_400_000;

/** Returns null when it was not, or long ago. */
export function copiedWords({ copied, head: { now } }: InfoReply): string | null {
  if (copied === null || copied === undefined || now - copied.at >= TOLD_MS) return null;
  const { at, jobIdFrom, nextJobId } = copied;
  return (
    `its store was copied to where it is, as the head found ${formatInstant(at, now)}: what was accepted ` +
    `after the copy was made is not in it; ids ${jobIdFrom} to ${nextJobId - 1} are skipped`
  );
}
