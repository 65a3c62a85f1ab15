// Which nodes vouch for their users when these log in: what is known of it, what can be asked about
// it, and what happens to it.

import type { NodeName } from '../../../kernel/model/ids.ts';
import type { MachineMarks } from '../../../kernel/model/node.ts';

/** What was trusted: this machine, under this secret, by a head whose store was not put back. */
export interface Trust {
  readonly by: string;
  readonly at: number;
  readonly machine: MachineMarks;
  readonly secretHash: string;
  readonly store: string;
}

export interface TrustFacts {
  readonly trustedNodes: Map<NodeName, Trust>;
}

export type TrustCommand = {
  readonly kind: 'trust_node' | 'distrust_node';
  readonly node: NodeName;
};

export type TrustEvent =
  | { readonly kind: 'node_trusted'; readonly node: NodeName; readonly trust: Trust }
  | { readonly kind: 'node_distrusted'; readonly node: NodeName; readonly by: string };
