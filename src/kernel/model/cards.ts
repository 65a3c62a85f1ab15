// What is left of each card of a node, for who plans: counts alone do not say whether the cards
// that are free are of the type that is wanted.

import { type CardRequest, type CardRoom, cardsFor, hasRoomOn, mostJoined } from './cards-for.ts';

/** What of a card never changes while it is there. */
export type CardFacts = Omit<CardRoom, 'freeBytes' | 'isIdle'>;

/** The cards of one node. */
export interface Deck {
  readonly cards: readonly CardFacts[];
  /** All of them are alike: which of them are free says no more than how many. */
  readonly isUniform: boolean;
}

/** An amount of cards: what a node has left of each, or what a task holds of each. */
export interface Cards {
  readonly deck: Deck;
  /**
   * Bytes, in the order of the deck; of a card whose memory nobody knows 1 for the whole. Less than
   * nothing: it may not be given even when its task has ended.
   */
  readonly left: readonly number[];
}

/** What a task asks of its cards; a request without it asks for any whole ones. */
export type GpuKind = Omit<CardRequest, 'count'>;

export const ANY_KIND: GpuKind = { types: null, memoryBytesMin: null, shareBytes: null };

export function deckOf(cards: readonly CardFacts[]): Deck {
  // Cards of two groups are not alike to who wants them joined.
  const kinds = new Set(cards.map((card) => `${kindOf(card)} ${card.linkedWith ?? ''}`));
  return { cards, isUniform: kinds.size <= 1 };
}

/** All of every card. */
export function allOf(deck: Deck): Cards {
  return { deck, left: deck.cards.map(wholeOf) };
}

/** What a task has that was given these cards, or a share of each. */
export function heldOn(deck: Deck, numbers: readonly number[], shareBytes: number | null): Cards {
  const left = deck.cards.map((card) => {
    return numbers.includes(card.number) ? (shareBytes ?? wholeOf(card)) : 0;
  });
  return { deck, left };
}

/** Nothing is known of the cards of what has none: taking from it leaves that so. */
export function combineCards(
  a: Cards | undefined,
  b: Cards | undefined,
  sign: 1 | -1,
): Cards | undefined {
  if (b === undefined) return a;
  if (a === undefined) return sign === 1 ? b : undefined;
  // Cards that have been told anew since: the newer ones count.
  if (a.deck.cards.length !== b.deck.cards.length) return a;
  return { deck: a.deck, left: a.left.map((amount, at) => amount + sign * (b.left[at] as number)) };
}

/** Type of each of these cards; null: none is known. */
export function typesOf(cards: Cards | undefined, numbers: readonly number[]): string[] | null {
  if (cards === undefined) return null;
  const byNumber = new Map(cards.deck.cards.map(({ number, type }) => [number, type]));
  const types = numbers.map((number) => byNumber.get(number) ?? '');
  return types.some((type) => type !== '') ? types : null;
}

/** What is left in both. */
export function leastOf(a: Cards | undefined, b: Cards): Cards {
  if (a === undefined || a === b) return b;
  return { deck: b.deck, left: b.left.map((amount, at) => Math.min(amount, a.left[at] ?? amount)) };
}

/** Whether so many cards of the kind have room. */
export function holdsCards(cards: Cards, count: number, kind: GpuKind): boolean {
  if (kind.links !== undefined) return matching(cards, kind) >= count;
  const request = { ...kind, count };
  let found = 0;
  for (let at = 0; at < cards.left.length && found < count; at += 1) {
    if (hasRoomOn(roomAt(cards, at), request)) found += 1;
  }
  return found >= count;
}

/** How many cards that somebody has a share of have room for one of the kind more. */
export function inUseWithRoom(cards: Cards, kind: GpuKind): number {
  const request = { ...kind, count: 1 };
  return cards.left.filter((_, at) => {
    const room = roomAt(cards, at);
    return !room.isIdle && hasRoomOn(room, request);
  }).length;
}

/** How many cards are of the kind and have room, for one task together. */
export function matching(cards: Cards, kind: GpuKind): number {
  const request = { ...kind, count: 1 };
  const rooms = roomsOf(cards).filter((room) => hasRoomOn(room, request));
  return kind.links === undefined ? rooms.length : mostJoined(rooms);
}

/** Whether every card of the node is of the kind, so that a number of them says as much. */
export function areAllOf({ deck }: Cards, kind: GpuKind): boolean {
  return kind.shareBytes === null && matching(allOf(deck), kind) === deck.cards.length;
}

/** Whether the card with this number, empty, is such as the kind says. */
export function isOfKind(cards: Cards | undefined, number: number, kind = ANY_KIND): boolean {
  const all = cards === undefined ? [] : roomsOf(allOf(cards.deck));
  const card = all.find((one) => one.number === number);
  return card === undefined || hasRoomOn(card, { ...kind, count: 1 });
}

/** Numbers of the cards that have room for a task; null: too few have. */
export function fittingFrom(cards: Cards, count: number, kind: GpuKind): readonly number[] | null {
  return cardsFor({ ...kind, count }, roomsOf(cards));
}

/**
 * Numbers of the cards that a plan counts on; where too few of the kind have room, the emptiest.
 */
export function chosenFrom(cards: Cards, count: number, kind: GpuKind): readonly number[] {
  const rooms = roomsOf(cards);
  const chosen = fittingFrom(cards, count, kind);
  if (chosen !== null) return chosen;
  const order = rooms.map(({ number }, at) => ({ number, left: cards.left[at] as number }));
  order.sort((a, b) => b.left - a.left || a.number - b.number);
  return order.slice(0, count).map(({ number }) => number);
}

/** How many of these cards nobody is on. */
export function idleAmong(cards: Cards, numbers: readonly number[]): number {
  return cards.left.filter((_, at) => {
    const { isIdle, number } = roomAt(cards, at);
    return isIdle && numbers.includes(number);
  }).length;
}

/** Equal where nodes are the same to every request. */
export function cardsKey(cards: Cards | undefined): string {
  if (cards === undefined) return '';
  const alone: string[] = [];
  const joined = new Map<string, string[]>();
  cards.deck.cards.forEach((card, at) => {
    const words = `${kindOf(card)}:${Math.max(0, cards.left[at] as number)}`;
    if (card.linkedWith === undefined) alone.push(words);
    else joined.set(card.linkedWith, [...(joined.get(card.linkedWith) ?? []), words]);
  });
  const groups = [...joined.values()].map((group) => group.sort().join('+'));
  return `/${[...alone, ...groups].sort().join(',')}`;
}

export function kindKey(kind: GpuKind | undefined): string {
  if (kind === undefined) return '';
  const { types, memoryBytesMin, shareBytes, links = '' } = kind;
  return `/${types?.join(',') ?? ''}:${memoryBytesMin ?? ''}:${shareBytes ?? ''}:${links}`;
}

function roomsOf(cards: Cards): CardRoom[] {
  return cards.left.map((_, at) => roomAt(cards, at));
}

function roomAt({ deck, left }: Cards, at: number): CardRoom {
  const card = deck.cards[at] as CardFacts;
  const free = left[at] as number;
  const freeBytes = card.memoryBytes === null ? null : Math.max(0, free);
  return { ...card, freeBytes, isIdle: free >= wholeOf(card) };
}

function wholeOf({ memoryBytes }: CardFacts): number {
  return Math.max(1, memoryBytes ?? 1);
}

function kindOf({ type, memoryBytes, isSlice }: CardFacts): string {
  return `${type}/${memoryBytes ?? ''}${isSlice ? '/s' : ''}`;
}
