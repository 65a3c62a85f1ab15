// What the head knows of a node's pause: what its agent said, and what an operator has asked for.

import type { Stopper } from '../../model/job.ts';
import type { Pause, PauseOrder } from '../../model/pause.ts';

export interface NodePausing {
  readonly now: Pause | null;
  /** Turn of the newest report about it; 0 before the first. */
  readonly turn: number;
  /** Longest that its agent takes; 0 before its first hello. */
  readonly maxMs: number;
  /** To be told until the agent has answered; it has no use any more after `until`. */
  readonly wish: { readonly order: PauseOrder; readonly until: number } | null;
  /** Serial of the last wish; 0 before the first. */
  readonly serial: number;
}

export const NO_PAUSING: NodePausing = { now: null, turn: 0, maxMs: 0, wish: null, serial: 0 };

/** In the stops of every task that is on the node. */
export function pauseStopper(node: string): Stopper {
  return `pause ${node}`;
}
