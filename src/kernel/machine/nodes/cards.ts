// What the cards of a node mean for what it can give: those that are used outside, ill or gone it
// cannot.

import {
  allOf,
  type CardFacts,
  type Cards,
  combineCards,
  type Deck,
  deckOf,
  heldOn,
} from '../../model/cards.ts';
import { cardLabel, cardTitle, type GpuCard, type NodeGpus } from '../../model/gpu.ts';
import { NO_RESOURCES, type Resources } from '../../model/resources.ts';
import type { Holding, Node } from './facts.ts';

/** Cards that no task may be given now. What a task has of them it keeps. */
export function withheldCards({ gpus, total }: Pick<Node, 'gpus' | 'total'>): readonly GpuCard[] {
  if (gpus === null) return [];
  return gpus.cards.filter(({ state, number }) => state !== 'free' && number < total.gpuCount);
}

/** How many of them no task has: they are neither free nor in use by Weft. */
export function gpusUnusable(node: Pick<Node, 'gpus' | 'total' | 'holding'>): number {
  const withheld = withheldCards(node);
  if (withheld.length === 0) return 0;
  const held = new Set([...node.holding.values()].flatMap(({ share }) => share.gpus));
  return withheld.filter(({ number }) => !held.has(number)).length;
}

/** What may be given of the node: of its gpus only those that are whole and unused. */
export function freeOf({ free, gpusFree }: Pick<Node, 'free' | 'gpusFree'>): Resources {
  if (free.gpuCount <= gpusFree.size) return free;
  return { ...free, gpuCount: gpusFree.size };
}

/** The same, with what is left of each of its cards where they are known. */
export function roomOf(node: Node): Resources {
  const free = freeOf(node);
  const deck = deckOn(node);
  return deck === null ? free : { ...free, cards: leftOn(node, deck) };
}

/** What the node has, with its cards where they are known. */
export function totalOf(node: Pick<Node, 'gpus' | 'total'>): Resources {
  const deck = deckOn(node);
  return deck === null ? node.total : { ...node.total, cards: allOf(deck) };
}

/** What an epoch counts for on its node, by which cards. */
export function occupiedBy(node: Pick<Node, 'gpus' | 'total'>, holding: Holding): Resources {
  const held = heldOf(holding);
  const { gpus, gpuShareBytes } = holding.share;
  if (gpus.length === 0) return held;
  const deck = deckOn(node);
  if (deck === null) return held;
  const cards = heldOn(deck, gpus, gpuShareBytes ?? null);
  return { ...held, gpuCount: gpus.length, cards };
}

/** What an epoch counts for on its node. A share of a card leaves the card to others. */
export function heldOf({ share, yieldedCpus, next }: Holding): Resources {
  if (next !== null) return NO_RESOURCES;
  const { resources, gpuShareBytes } = share;
  if (yieldedCpus === 0 && gpuShareBytes === undefined) return resources;
  const gpuCount = gpuShareBytes === undefined ? resources.gpuCount : 0;
  return { ...resources, gpuCount, cpuCount: resources.cpuCount - yieldedCpus };
}

/** Made when cards are told: every start and every end of a task asks for it. */
const DECKS = new WeakMap<NodeGpus, Deck>();

/** Returns null when nobody tells which cards the node has. */
function deckOn({ gpus, total }: Pick<Node, 'gpus' | 'total'>): Deck | null {
  if (gpus === null || total.gpuCount === 0 || gpus.cards.length === 0) return null;
  const known = DECKS.get(gpus);
  if (known?.cards.length === total.gpuCount) return known;
  const byNumber = new Map(gpus.cards.map((card) => [card.number, card]));
  const numbers = Array.from({ length: total.gpuCount }, (_, number) => number);
  const deck = deckOf(numbers.map((number) => factsOf(number, byNumber.get(number))));
  DECKS.set(gpus, deck);
  return deck;
}

/** Where more cards were declared than there are, nothing is known of the others. */
function factsOf(number: number, card: GpuCard | undefined): CardFacts {
  return {
    number,
    type: card?.type ?? '',
    memoryBytes: card?.memoryBytes ?? null,
    isSlice: card?.partOf !== undefined,
    numaNode: card?.numaNode ?? null,
    ...(card?.linkedWith === undefined ? {} : { linkedWith: card.linkedWith }),
  };
}

function leftOn(node: Node, deck: Deck): Cards {
  let cards = allOf(deck);
  for (const { share } of node.holding.values()) {
    if (share.gpus.length === 0) continue;
    cards = lessThan(cards, heldOn(deck, share.gpus, share.gpuShareBytes ?? null));
  }
  const withheld = withheldCards(node);
  if (withheld.length === 0) return cards;
  const numbers = withheld.map(({ number }) => number);
  return lessThan(cards, heldOn(deck, numbers, null));
}

function lessThan(all: Cards, held: Cards): Cards {
  return combineCards(all, held, -1) ?? all;
}

/** Each withheld card with the reason, for people. */
export function withheldWords(
  node: Pick<Node, 'gpus' | 'total'>,
): { readonly number: number; readonly words: string }[] {
  return withheldCards(node).map((card) => {
    return { number: card.number, words: `${cardTitle(card)} is ${card.why ?? card.state}` };
  });
}

/** What each task has of the cards, for people: `gpus 0 and 2 are given to 42 of ann`. */
export function givenWords({ gpus, holding }: Pick<Node, 'gpus' | 'holding'>): {
  readonly numbers: readonly number[];
  readonly words: string;
}[] {
  const labels = new Map(gpus?.cards.map((card) => [card.number, cardLabel(card)]));
  return [...holding.values()].flatMap(({ share, task }) => {
    const numbers = share.gpus;
    if (numbers.length === 0) return [];
    const shown = numbers.map((number) => labels.get(number) ?? String(number));
    const cards = numbers.length === 1 ? `gpu ${shown} is` : `gpus ${listed(shown)} are`;
    // Of one that is over for the head nobody is named.
    const whom = task === null ? 'a task that is over' : `${task.id} of ${task.job.owner}`;
    return [{ numbers, words: `${cards} given to ${whom}` }];
  });
}

function listed(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
