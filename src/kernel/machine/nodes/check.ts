// The invariants of nodes and of the scheduler's pool of them (S9).

import { assert } from '../../base/assert.ts';
import { addResources, resourcesKey, subtractResources } from '../../model/resources.ts';
import type { State } from '../state.ts';
import { epochIdOf } from '../tasks/apply.ts';
import { preemptedFor } from '../tasks/stops.ts';
import { heldOf, roomOf, withheldCards } from './cards.ts';
import type { Node } from './facts.ts';
import { mayGetWork } from './view.ts';

export function checkNodes(state: State): void {
  for (const node of state.nodes.values()) {
    checkNode(node);
    checkPool(state, node);
  }
}

function checkNode(node: Node): void {
  let used = subtractResources(node.total, node.total);
  const gpus = new Set<number>();
  for (const holding of node.holding.values()) {
    const { share, task, epochId, yieldedCpus } = holding;
    used = addResources(used, heldOf(holding));
    assert(
      yieldedCpus === 0 || (task !== null && preemptedFor(task) !== null),
      `${epochId} gave its cpus up to make room`,
    );
    for (const gpu of share.gpus) if (gpu < node.total.gpuCount) gpus.add(gpu);
    assert(share.node === node.name, `${epochId} holds its own node`);
    if (task !== null) assert(epochIdOf(task) === epochId, `${epochId} is the task's epoch`);
  }
  for (const { number } of withheldCards(node)) gpus.add(number);
  const free = subtractResources(node.total, used);
  assert(resourcesKey(free) === resourcesKey(node.free), `${node.name}: free is what is not held`);
  assert(node.gpusFree.size === node.total.gpuCount - gpus.size, `${node.name}: gpus add up`);
}

/** The scheduler sees exactly the nodes that may get work, as they are. */
function checkPool(state: State, node: Node): void {
  const view = state.indexes.pool.get(node.name);
  const wanted = mayGetWork(node);
  assert((view !== undefined) === wanted, `${node.name} is offered to the scheduler: ${wanted}`);
  if (view === undefined) return;
  assert(resourcesKey(view.free) === resourcesKey(roomOf(node)), `${node.name}: the pool is fresh`);
  assert(view.gpusFree.length === node.gpusFree.size, `${node.name}: the pool knows its gpus`);
}
