// What happens to nodes and their sessions.

import type { NodeGpus } from '../../model/gpu.ts';
import type { EpochId, NodeName } from '../../model/ids.ts';
import type { NodeHello } from '../../model/node.ts';
import type { Resources } from '../../model/resources.ts';
import type { Clone } from './facts.ts';

export type NodeEvent =
  | {
      readonly kind: 'node_enrolled';
      readonly node: NodeName;
      readonly secretHash: string;
      readonly resources: Resources | null;
      readonly labels: readonly string[];
    }
  | {
      readonly kind: 'node_connected';
      readonly session: number;
      readonly hello: NodeHello;
      /** Held by the agent, unknown or outdated here: to be ended there. */
      readonly stale: readonly EpochId[];
    }
  | { readonly kind: 'node_disconnected'; readonly node: NodeName; readonly session: number }
  | { readonly kind: 'node_unreachable'; readonly node: NodeName }
  /** Another machine said hello with the node's identity, and was refused. */
  | { readonly kind: 'node_clone_seen'; readonly node: NodeName; readonly clone: Clone }
  /** `clones`: those that are left. `isOther`: the node's own machine is another node now. */
  | {
      readonly kind: 'node_clones_settled';
      readonly node: NodeName;
      readonly clones: readonly Clone[];
      readonly isOther: boolean;
      /** An operator, or `enrolment`. */
      readonly by: string;
    }
  /** Null when it can take work again. */
  | { readonly kind: 'node_fault_changed'; readonly node: NodeName; readonly fault: string | null }
  /** What its agent tells of its cards has changed. */
  | { readonly kind: 'node_gpus_told'; readonly node: NodeName; readonly gpus: NodeGpus }
  | {
      readonly kind: 'node_drained';
      readonly node: NodeName;
      readonly reason: string;
      readonly by: string;
    }
  | { readonly kind: 'node_undrained'; readonly node: NodeName; readonly by: string }
  | {
      readonly kind: 'node_labelled';
      readonly node: NodeName;
      readonly add: readonly string[];
      readonly remove: readonly string[];
    }
  /** Declared by an admin: from now on this counts, not what its agent finds. */
  | {
      readonly kind: 'node_resized';
      readonly node: NodeName;
      readonly resources: Resources;
      readonly by: string;
    }
  /** `by`: an operator, or `fence command`. */
  | { readonly kind: 'node_declared_lost'; readonly node: NodeName; readonly by: string }
  | { readonly kind: 'node_removed'; readonly node: NodeName; readonly by: string };
