// The cards of a node, kept over restarts of its agent: their numbers are what tasks hold them by,
// and a driver that does not answer takes none of them away.

import type { Kept } from '../model/keep.ts';

export interface KnownCards {
  /** Returns null when nothing is kept, or it cannot be read. */
  load(): Kept | null;
  /** Never throws: without it the next agent knows less. */
  save(kept: Kept): void;
}
