// The cards of a node as the API shows them: what its agent tells, with the tasks that have them.

import type { CardView, NodeView } from '../../api/nodes.ts';
import type { Node } from '../../machine/nodes/facts.ts';
import { cardLabel, type GpuCard } from '../../model/gpu.ts';

export function gpusOf({ gpus, holding }: Node): Exclude<NodeView['gpus'], undefined> {
  if (gpus === null) return null;
  const tasks = new Map<number, string[]>();
  for (const { epochId, share } of holding.values()) {
    for (const number of share.gpus) tasks.set(number, [...(tasks.get(number) ?? []), epochId]);
  }
  const { cards, notes, ...told } = gpus;
  const shown = notes === undefined ? told : { ...told, notes: [...notes] };
  return { ...shown, cards: cards.map((card) => cardOf(card, tasks.get(card.number) ?? [])) };
}

/** That a card is ill matters more than that a task has it. */
function cardOf(told: GpuCard, tasks: string[]): CardView {
  const { number: _, users, state, over, ...card } = told;
  return {
    ...card,
    ...(over === undefined ? {} : { over: over.map((one) => ({ ...one })) }),
    label: cardLabel(told),
    state: state === 'free' && tasks.length > 0 ? 'given' : state,
    users: users.map((one) => ({ ...one })),
    tasks,
  };
}
