// Applying what happened about pauses of nodes. Tasks that stop for one do so by events of their
// own.

import type { PauseOrder } from '../../model/pause.ts';
import type { Of } from '../events.ts';
import { nodeOf, refreshPool } from '../nodes/apply.ts';
import type { Node } from '../nodes/facts.ts';
import type { State } from '../state.ts';

export function applyNodePaused(state: State, event: Of<'node_paused'>): void {
  applyTold(state, event, event.pause);
}

export function applyNodeUnpaused(state: State, event: Of<'node_unpaused'>): void {
  applyTold(state, event, null);
}

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

export function applyPauseAsked(state: State, event: Of<'node_pause_asked'>): void {
  setPauseRequest(state, event.node, event);
}

export function applyPauseForgotten(state: State, event: Of<'node_pause_forgotten'>): void {
  setPauseRequest(state, event.node, null);
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
