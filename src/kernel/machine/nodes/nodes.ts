// Nodes as a noun.

import { askAnew } from '../jobs/apply.ts';
import type { Noun } from '../noun.ts';
import * as apply from './apply.ts';
import { checkNodes } from './check.ts';
import * as clones from './clones.ts';
import * as fleet from './fleet.ts';
import { applyNodeGpusTold } from './gpus.ts';
import { loadNode, type NodeData, saveNode } from './snapshot.ts';

export interface NodesData {
  readonly nextNodeOrder: number;
  readonly nodes: readonly NodeData[];
}

export const nodes: Noun<'nodes', NodesData> = {
  commands: {
    drain_node: fleet.decideDrain,
    undrain_node: fleet.decideUndrain,
    label_node: fleet.decideLabel,
    modify_node: fleet.decideModify,
    declare_node_lost: fleet.decideDeclareLost,
    remove_node: fleet.decideRemove,
    enroll_node: fleet.decideEnroll,
  },
  events: {
    node_enrolled: apply.applyNodeEnrolled,
    node_connected: apply.applyNodeConnected,
    node_disconnected: apply.applyNodeDisconnected,
    node_unreachable: apply.applyNodeUnreachable,
    node_clone_seen: clones.applyCloneSeen,
    node_clones_settled: clones.applyClonesSettled,
    node_fault_changed: apply.applyNodeFaultChanged,
    node_gpus_told: applyNodeGpusTold,
    node_drained: apply.applyNodeDrained,
    node_undrained: apply.applyNodeUndrained,
    node_labelled: apply.applyNodeLabelled,
    node_resized: apply.applyNodeResized,
    node_declared_lost: apply.applyNodeDeclaredLost,
    node_removed: apply.applyNodeRemoved,
  },
  facts: () => ({ nodes: new Map(), nextNodeOrder: 1, ofSome: new Set() }),
  save: (state) => ({
    nextNodeOrder: state.nextNodeOrder,
    nodes: [...state.nodes.values()].map(saveNode),
  }),
  load(state, data) {
    state.nextNodeOrder = data.nextNodeOrder;
    for (const node of data.nodes) loadNode(state, node);
  },
  rebase(state, byMs) {
    for (const node of state.nodes.values()) {
      if (node.unreachableSince !== null) node.unreachableSince += byMs;
      if (node.lastSeenAt !== null) node.lastSeenAt += byMs;
    }
  },
  index(state) {
    for (const node of state.nodes.values()) apply.indexNode(state, node);
    if (state.ofSome.size > 0) askAnew(state);
  },
  check: checkNodes,
};
