// Pauses of nodes as a noun. Their facts are saved with their nodes.

import type { PauseOrder } from '../../model/pause.ts';
import type { Of } from '../events.ts';
import { nodeOf, refreshPool } from '../nodes/apply.ts';
import type { Node } from '../nodes/facts.ts';
import type { Noun } from '../noun.ts';
import type { State } from '../state.ts';
import { decidePauseNode, decideUnpauseNode, forgetPauseRequests } from './asked.ts';

export const pauses: Noun<'pauses'> = {
  commands: {
    pause_node: decidePauseNode,
    unpause_node: decideUnpauseNode,
  },
  events: {
    node_paused(state, event) {
      applyTold(state, event, event.pause);
    },
    node_unpaused(state, event) {
      applyTold(state, event, null);
    },
    node_pause_asked(state, event) {
      setPauseRequest(state, event.node, event);
    },
    node_pause_forgotten(state, event) {
      setPauseRequest(state, event.node, null);
    },
  },
  facts: () => ({}),
  save: () => ({}),
  load: () => undefined,
  rebase({ nodes }, byMs) {
    for (const node of nodes.values()) {
      const { wish } = node.pausing;
      if (wish === null) continue;
      node.pausing = { ...node.pausing, wish: { ...wish, until: wish.until + byMs } };
    }
  },
  due: forgetPauseRequests,
};

function applyTold(
  state: State,
  { node: name, turn, orderHeard }: Of<'node_paused'> | Of<'node_unpaused'>,
  now: Node['pausing']['now'],
): void {
  const node = nodeOf(state, name);
  const { pausing } = node;
  const isHeard = pausing.wish !== null && pausing.wish.order.serial <= orderHeard;
  node.pausing = { ...pausing, now, turn, wish: isHeard ? null : pausing.wish };
  refreshPool(state, node);
}

function setPauseRequest(
  state: State,
  name: Of<'node_pause_asked'>['node'],
  wish: { readonly order: PauseOrder; readonly until: number } | null,
): void {
  const node = nodeOf(state, name);
  if (wish === null) {
    node.pausing = { ...node.pausing, wish };
    return;
  }
  const { order, until } = wish;
  node.pausing = { ...node.pausing, wish: { order, until }, serial: order.serial };
  state.scratch.touched.push({ node: name, epochId: null });
}
