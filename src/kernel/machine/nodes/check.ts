// The invariants of nodes and of the scheduler's pool of them (S9).

import { assert } from '../../base/assert.ts';
import type { JobId } from '../../model/ids.ts';
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
    checkPlaces(state, node);
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

/** What jobs have there, and what waits for it, is what the claims say. */
function checkPlaces(state: State, { name, holding }: Node): void {
  const counted = new Map<JobId, { count: number; next: number }>();
  let waits = false;
  for (const { task, next } of holding.values()) {
    if (task === null) continue;
    const one = counted.get(task.job.id) ?? { count: 0, next: 0 };
    if (next === null) one.count += 1;
    else one.next += 1;
    waits ||= next !== null;
    counted.set(task.job.id, one);
    const isNext = task.parts.get(name)?.isNext;
    assert(isNext === (next !== null), `${task.id} is next on ${name}: ${next !== null}`);
  }
  const { places } = state.indexes;
  assert(places.waitsOn(name) === waits, `${name} has tasks that are next: ${waits}`);
  const known = [...places.on(name)];
  assert(known.length === counted.size, `${name} has places of ${counted.size} jobs`);
  for (const [jobId, { count, next }] of known) {
    const wanted = counted.get(jobId);
    const isSame = count === wanted?.count && next.size === wanted.next;
    assert(isSame, `job ${jobId} has ${wanted?.count} places on ${name}, and ${wanted?.next} next`);
  }
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
