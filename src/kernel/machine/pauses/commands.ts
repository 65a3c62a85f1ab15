// What operators can ask about pauses of nodes. Their owners ask the nodes themselves.

import type { NodeName } from '../../model/ids.ts';

export type PauseCommand = PauseNode | UnpauseNode;

export interface PauseNode {
  readonly kind: 'pause_node';
  readonly node: NodeName;
  readonly durationMs: number;
  /** Tasks that may be requeued go elsewhere; the others are suspended. */
  readonly requeue: boolean;
}

export interface UnpauseNode {
  readonly kind: 'unpause_node';
  readonly node: NodeName;
}
