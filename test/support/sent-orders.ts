// What a shell that looks only at `touched` would have told each node, and whether that is all that
// the state says is outstanding.

import assert from 'node:assert/strict';
import type { Event } from '../../src/kernel/machine/declared.ts';
import type { Of } from '../../src/kernel/machine/events.ts';
import { mayGo, outstanding, takeOrders } from '../../src/kernel/machine/outstanding.ts';
import type { State } from '../../src/kernel/machine/state.ts';
import type { NodeName } from '../../src/kernel/model/ids.ts';
import type { Settings } from '../../src/kernel/model/settings.ts';

export class SentOrders {
  /** Orders told on the node's present session, as JSON. */
  readonly #told = new Map<NodeName, Set<string>>();

  /** Takes note of one step, as the head's shell does after its commit. */
  follow(state: State, settings: Settings, events: readonly Event[]): void {
    for (const event of events) {
      if (event.kind === 'node_connected') this.#told.set(event.hello.node, new Set());
      if (event.kind === 'part_placed' && event.begun) this.#begun(state, settings, event);
    }
    for (const [name, orders] of takeOrders(state, settings)) {
      for (const order of orders) this.#told.get(name)?.add(JSON.stringify(order));
    }
    for (const node of state.nodes.values()) {
      if (!node.connected) continue;
      for (const order of outstanding(state, node, settings)) {
        if (!mayGo(state, node, order)) continue;
        const told = this.#told.get(node.name)?.has(JSON.stringify(order)) === true;
        assert.ok(told, `${node.name} was told: ${JSON.stringify(order)}`);
      }
    }
  }

  /** The node has given the place itself: it knows what it would be told. */
  #begun(state: State, settings: Settings, { node: name, epochId }: Of<'part_placed'>): void {
    const node = state.nodes.get(name);
    if (node === undefined) return;
    for (const order of outstanding(state, node, settings)) {
      if (order.kind !== 'launch' || order.epochId !== epochId) continue;
      this.#told.get(name)?.add(JSON.stringify(order));
    }
  }
}
