// Words about the gpus of a node.

import type { CardView } from '../../api/nodes.ts';

/** How the card is; what keeps it from being given says more than its state. */
export function cardWords({ state, why }: Pick<CardView, 'state' | 'why'>): string {
  return why ?? state.replace('_', ' ');
}

/** Number of the job of a task, of `42[7]#1`. */
export function jobOfTask(task: string): number {
  return Number(/^\d+/.exec(task)?.[0] ?? 0);
}
