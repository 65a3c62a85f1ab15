// The nodes and slots of a task, as its host file has them.

import type { LaunchOrder } from '../model/orders.ts';

/** Processes of the task per node, however they are started. */
export function ranksPerNode(order: LaunchOrder): number {
  return order.mpi?.ranksPerNode ?? order.processesPerNode;
}

/** A line per rank: the only form that Open MPI and MPICH both read. */
export function hostLines(order: LaunchOrder, self: string): string {
  return namesOf(order, self)
    .map((name) => `${name}\n`.repeat(ranksPerNode(order)))
    .join('');
}

/** Open MPI takes a host that is named once for one with as many slots as it has cores. */
export function slotLines(order: LaunchOrder, self: string): string {
  return namesOf(order, self)
    .map((name) => `${name} slots=${ranksPerNode(order)}\n`)
    .join('');
}

function namesOf({ nodes }: LaunchOrder, self: string): readonly string[] {
  return nodes.length === 1 ? [self] : nodes;
}
