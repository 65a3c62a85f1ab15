// Whether the rest of an output is still to come when its task is over, and how long it is waited
// for.

import type { LogStatus } from '../../logs/log-files.ts';
import type { Progress } from './log-target.ts';

/** An agent sends the first piece at once; after this long without one there is none. */
const TAIL_WAIT_MS = 5000;
/** A node that is there goes on sending; it may have much else to send. */
const QUIET_MAX_MS = 60_000;

export interface Over extends Pick<Progress, 'endedAt' | 'isConnected' | 'isDoubted'> {
  /** When the reader first saw that it is over: an older start has no other end. */
  readonly seenAt: number;
}

/** `whole`: all of it is here. `lacking`: some is not, and nobody sends it. */
export type Rest = 'whole' | 'lacking' | { readonly waitMs: number };

/** `over`: how the start ended; null: it has not. */
export function restOf(status: LogStatus, over: Over | null, now: number): Rest {
  if (status.ended) return 'whole';
  if (over === null) return { waitMs: Number.POSITIVE_INFINITY };
  // The clock of its node may be ahead.
  const endedAt = Math.min(over.endedAt ?? over.seenAt, over.seenAt);
  const quietMaxMs = status.isOpen && over.isConnected ? QUIET_MAX_MS : TAIL_WAIT_MS;
  const waitMs = Math.max(status.movedAt, endedAt) + quietMaxMs - now;
  if (waitMs > 0) return { waitMs };
  // A head that has started anew knows of no end, and most output came whole.
  return status.isOpen || over.isDoubted ? 'lacking' : 'whole';
}
