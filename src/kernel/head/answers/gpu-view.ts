// The cards of a node as the API shows them: what its agent tells, with the tasks that have them.

import type { CardView, NodeView } from '../../api/nodes.ts';
import type { Holding, Node } from '../../machine/nodes/facts.ts';
import { cardLabel, type GpuCard } from '../../model/gpu.ts';

export function gpusOf({ gpus, holding }: Node): Exclude<NodeView['gpus'], undefined> {
  if (gpus === null) return null;
  const held = new Map<number, Holding[]>();
  for (const one of holding.values()) {
    for (const number of one.share.gpus) held.set(number, [...(held.get(number) ?? []), one]);
  }
  const { cards, notes, ...told } = gpus;
  const shown = notes === undefined ? told : { ...told, notes: [...notes] };
  return { ...shown, cards: cards.map((card) => cardOf(card, held.get(card.number) ?? [])) };
}

/** That a card is ill matters more than that a task has it. */
function cardOf(told: GpuCard, held: readonly Holding[]): CardView {
  const tasks = held.map(({ epochId }) => epochId);
  // Nobody is named of tasks that are over for the head.
  const owners = new Set(held.flatMap(({ task }) => task?.job.owner ?? []));
  const { number: _, users, state, over, ...card } = told;
  return {
    ...card,
    ...(over === undefined ? {} : { over: over.map((one) => ({ ...one })) }),
    label: cardLabel(told),
    state: state === 'free' && tasks.length > 0 ? 'given' : state,
    users: users.map((one) => ({ ...one })),
    tasks,
    owners: [...owners],
  };
}
