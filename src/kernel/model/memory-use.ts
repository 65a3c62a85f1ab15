// What a task has in memory now, as its nodes see it.

import type { EpochId } from './ids.ts';

/** One part of an epoch on one node. */
export interface MemoryUse {
  readonly epochId: EpochId;
  readonly bytes: number;
  readonly peakBytes: number;
  /** Processes of it that the kernel has killed for memory so far. */
  readonly kills: number;
  /** When the node saw the last of them, ms since 1970; null: none, or before its agent began. */
  readonly killedAt: number | null;
}

/** What becomes of a task of which the kernel kills a process for memory, and not the main one. */
export const ON_OOM = ['tell', 'end'] as const;
