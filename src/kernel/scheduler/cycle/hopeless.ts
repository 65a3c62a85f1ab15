// What cycles that are cut short remember for the next one of their chain: for whom nobody can make
// room.

import type { NodeName } from '../../model/ids.ts';

/** A search that found too few nodes. */
export interface FailedSearch {
  /** All that would do if everybody left who could. */
  readonly able: ReadonlySet<NodeName>;
  /** How many changes of nodes it knows: `NodePool.changedSince`. */
  readonly seen: number;
}

/** By what was asked for, and the tier of who asks. */
export type Hopeless = Map<string, FailedSearch>;
