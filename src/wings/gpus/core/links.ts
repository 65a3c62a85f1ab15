// Cards that are joined with each other by wires of their own, whoever made them.

import type { SeenCard } from '../model/answer.ts';

/** Two cards that are joined, by their numbers. */
export type Pair = readonly [number, number];

/**
 * For each number of a card the lowest of those that it is joined with; cards alone are left out.
 */
export function firstOfJoined(pairs: Iterable<Pair>): ReadonlyMap<number, number> {
  const first = new Map<number, number>();
  const firstOf = (card: number): number => first.get(card) ?? card;
  for (const pair of pairs) {
    const [to, from] = pair.map(firstOf).sort((a, b) => a - b) as [number, number];
    for (const card of pair) if (!first.has(card)) first.set(card, firstOf(card));
    for (const [card, group] of first) if (group === from) first.set(card, to);
  }
  return first;
}

/** Cards with the uuid of the first of those that they are joined with. */
export function withLinks(
  cards: readonly SeenCard[],
  links: ReadonlyMap<number, number>,
): readonly SeenCard[] {
  const byIndex = new Map(cards.map((card) => [card.index, card.uuid]));
  return cards.map((card) => {
    const first = card.index === null ? undefined : links.get(card.index);
    const linkedWith = first === undefined ? undefined : byIndex.get(first);
    return linkedWith === undefined || card.partOf !== undefined ? card : { ...card, linkedWith };
  });
}
