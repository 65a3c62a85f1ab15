// The cards of a node as the API shows them: what its agent tells, with the tasks that have them.

import type { CardView, NodeView } from '../../api/nodes.ts';
import { plural } from '../../base/plural.ts';
import type { Holding, Node } from '../../machine/nodes/facts.ts';
import { type CardState, cardLabel, type GpuCard } from '../../model/gpu.ts';

export function gpusOf({ gpus, holding, total }: Node): Exclude<NodeView['gpus'], undefined> {
  if (gpus === null) return null;
  const held = new Map<number, Holding[]>();
  for (const one of holding.values()) {
    for (const number of one.share.gpus) held.set(number, [...(held.get(number) ?? []), one]);
  }
  const { cards, notes = [], lookMs: _, ...told } = gpus;
  const all = [...notes, ...countNote(cards.length, total.gpuCount)];
  const shown = all.length === 0 ? told : { ...told, notes: all };
  return { ...shown, cards: cards.map((card) => cardOf(card, held.get(card.number) ?? [])) };
}

/** Numbers of cards that nobody finds are given all the same: who declares them knows more. */
function countNote(found: number, declared: number): string[] {
  if (found === 0 || declared <= found) return [];
  const words = `${plural(declared, 'gpu')} are declared and ${found} ${found === 1 ? 'is' : 'are'} found`;
  return [`${words}; tasks may be given numbers that are no gpus`];
}

/** That a card is ill matters more than that a task has it. */
function cardOf(told: GpuCard, held: readonly Holding[]): CardView {
  const tasks = held.map(({ epochId }) => epochId);
  // Nobody is named of tasks that are over for the head.
  const owners = new Set(held.flatMap(({ task }) => task?.job.owner ?? []));
  const { number: _, isWell: _words, users, state, over, kept, ...card } = told;
  return {
    ...card,
    ...(over === undefined ? {} : { over: over.map((one) => ({ ...one })) }),
    label: cardLabel(told),
    state: stateOf(state, tasks.length > 0, kept === true),
    users: users.map((one) => ({ ...one })),
    tasks,
    owners: [...owners],
  };
}

function stateOf(state: CardState, isGiven: boolean, isKept: boolean): CardView['state'] {
  if (state === 'free') return isGiven ? 'given' : state;
  return state === 'used_outside' && isKept ? 'kept' : state;
}
