// What can be asked about nodes.

import type { NodeName } from '../../model/ids.ts';
import type { Resources } from '../../model/resources.ts';

export type NodeCommand =
  | DrainNode
  | UndrainNode
  | LabelNode
  | ModifyNode
  | DeclareNodeLost
  | RemoveNode
  | EnrollNode;

export interface DrainNode {
  readonly kind: 'drain_node';
  readonly node: NodeName;
  readonly reason: string;
}

export interface UndrainNode {
  readonly kind: 'undrain_node';
  readonly node: NodeName;
}

export interface LabelNode {
  readonly kind: 'label_node';
  readonly node: NodeName;
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

/** Declares what a node has, whatever its agent finds; what is absent stays as it is. */
export interface ModifyNode {
  readonly kind: 'modify_node';
  readonly node: NodeName;
  readonly resources: Partial<Resources>;
}

/** The operator vouches that nothing runs there any more. */
export interface DeclareNodeLost {
  readonly kind: 'declare_node_lost';
  readonly node: NodeName;
}

export interface RemoveNode {
  readonly kind: 'remove_node';
  readonly node: NodeName;
}

/** A machine that has had the identity of a node, as it says itself. */
export interface CopyOf {
  readonly node: NodeName;
  readonly bootId: string;
  readonly folder?: string;
}

/** Admits a node with a secret of its own; `resources` override what it finds on the machine. */
export interface EnrollNode {
  readonly kind: 'enroll_node';
  readonly node: NodeName;
  readonly secretHash: string;
  readonly resources: Resources | null;
  readonly labels: readonly string[];
  /** The join token that let it in; absent: an admin did. */
  readonly tokenId?: string;
  /** The machine was a copy of that node until now. */
  readonly copyOf?: CopyOf;
  /** Take over an existing name (its old secret stops working). */
  readonly replace: boolean;
}
