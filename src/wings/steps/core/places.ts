// On which nodes of its task the processes of a step are started.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { PROCESSES_MAX } from './limits.ts';

export interface PlaceWish {
  /** Only there; null: its task's nodes, the first one first. */
  readonly node: string | null;
  readonly count: number;
  /** The count is of each node, in place of all together. */
  readonly perNode: boolean;
}

/** The node of each process, by rank. Ranks fill one node after the other, evenly. */
export function placesOf(nodes: readonly string[], wish: PlaceWish): Result<string[], string> {
  const { node, count, perNode } = wish;
  if (node !== null && !nodes.includes(node)) {
    const shown = nodes.length > 8 ? [...nodes.slice(0, 8), '…'] : nodes;
    return err(`'${node}' is not a node of this task; it has ${shown.join(', ')}`);
  }
  const among = node === null ? nodes : [node];
  const each = perNode ? count : Math.ceil(count / among.length);
  const places = among.flatMap((name) => Array<string>(each).fill(name));
  const wanted = perNode ? places : places.slice(0, count);
  if (each <= PROCESSES_MAX && wanted.length <= PROCESSES_MAX) return ok(wanted);
  return err(`${wanted.length} processes are more than the ${PROCESSES_MAX} that a step may have`);
}
