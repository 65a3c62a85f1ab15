// The nodes and slots of a task, as its host file has them.

import { evenShare } from '../base/even-share.ts';
import type { LaunchOrder } from '../model/orders.ts';

/** Processes of the task per node, however they are started; of some nodes one less. */
export function ranksPerNode(order: LaunchOrder): number {
  return order.mpi?.ranksPerNode ?? order.processesPerNode;
}

function ranksAt(order: LaunchOrder, at: number): number {
  const ranks = order.mpi?.ranks;
  return ranks === undefined ? ranksPerNode(order) : evenShare(ranks, order.nodes.length, at);
}

/** A line per rank: the only form that Open MPI and MPICH both read. */
export function hostLines(order: LaunchOrder, self: string): string {
  return namesOf(order, self)
    .map((name, at) => `${name}\n`.repeat(ranksAt(order, at)))
    .join('');
}

/** Open MPI takes a host that is named once for one with as many slots as it has cores. */
export function slotLines(order: LaunchOrder, self: string): string {
  return namesOf(order, self)
    .map((name, at) => `${name} slots=${ranksAt(order, at)}\n`)
    .join('');
}

function namesOf({ nodes }: LaunchOrder, self: string): readonly string[] {
  return nodes.length === 1 ? [self] : nodes;
}
