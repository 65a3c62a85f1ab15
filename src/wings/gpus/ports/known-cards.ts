// The cards of a node, kept over restarts of its agent: their numbers are what tasks hold them by,
// and a driver that does not answer takes none of them away.

import type { GpuCard } from '../../../kernel/model/gpu.ts';
import type { Keep } from '../model/keep.ts';

export interface Kept {
  /** The boot in which they were seen. */
  readonly bootId: string;
  /** By their numbers. */
  readonly cards: readonly GpuCard[];
  /** Cards that the machine's owner keeps. Absent: none. */
  readonly keeps?: readonly Keep[];
}

export interface KnownCards {
  /** Returns null when nothing is kept, or it cannot be read. */
  load(): Kept | null;
  /** Never throws: without it the next agent knows less. */
  save(kept: Kept): void;
}
