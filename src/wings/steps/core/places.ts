// On which nodes of its task the processes of a step are started.

import { evenShare } from '../../../kernel/base/even-share.ts';
import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { PROCESSES_MAX } from './limits.ts';

export interface PlaceWish {
  /** Only there; null: its task's nodes, the first one first. */
  readonly node: string | null;
  readonly count: number;
  /** The count is of each node, in place of all together. */
  readonly perNode: boolean;
}

/** The node of each process, by rank. Ranks fill one node after the other, as evenly as can be. */
export function placesOf(nodes: readonly string[], wish: PlaceWish): Result<string[], string> {
  const { node, count, perNode } = wish;
  if (node !== null && !nodes.includes(node)) {
    const shown = nodes.length > 8 ? [...nodes.slice(0, 8), '…'] : nodes;
    return err(`'${node}' is not a node of this task; it has ${shown.join(', ')}`);
  }
  const among = node === null ? nodes : [node];
  const all = perNode ? count * among.length : count;
  if (all > PROCESSES_MAX)
    return err(`${all} processes are more than the ${PROCESSES_MAX} that a step may have`);
  return ok(
    among.flatMap((name, at) => Array<string>(evenShare(all, among.length, at)).fill(name)),
  );
}
