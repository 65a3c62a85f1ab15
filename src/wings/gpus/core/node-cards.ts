// The cards of one node, as it tells the head of them.

import type { Fence } from '../../../kernel/model/device.ts';
import { cardLabel, type GpuCard, type NodeGpus, shortUuid } from '../../../kernel/model/gpu.ts';
import { GPU_NOTES_MAX } from '../../../kernel/model/limits.ts';
import type { SeenCard } from '../model/answer.ts';
import { calmed } from './calm.ts';
import type { Offered } from './own-cards.ts';
import type { CardRules, Machine, Tracked } from './state.ts';
import { remembered, usersOf } from './watch.ts';
import { goneWords, whyOf } from './words.ts';

/** Beginning of uuids of cards that nobody has seen. */
const HIDDEN = 'unseen-';
const NO_CARDS = /no devices were found|unable to detect any gpu/i;

/** Cards in the order of the machine: by maker, number and address. */
export function inOrder({ cards }: Machine): Offered[] {
  const all = [...cards.values()].map(({ seen }) => seen);
  const far = Number.MAX_SAFE_INTEGER;
  return all.sort(
    (a, b) =>
      byText(b.vendor, a.vendor) ||
      (a.index ?? far) - (b.index ?? far) ||
      byText(a.ordinal ?? '', b.ordinal ?? '') ||
      byText(a.busId, b.busId),
  );
}

function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** The node's cards, and how many it is declared to have; null: as many as there are. */
export interface OwnCards {
  readonly uuids: readonly string[];
  readonly count: number | null;
}

/** `before`: as it was told last. */
export function nodeGpus(
  { uuids, count }: OwnCards,
  machine: Machine,
  rules: CardRules,
  {
    before,
    at,
    fence = null,
  }: { readonly before: NodeGpus | null; readonly at: number; readonly fence?: Fence | null },
): NodeGpus {
  const isMixed = new Set([...machine.cards.values()].map(({ seen }) => seen.vendor)).size > 1;
  const told = new Map((before?.cards ?? []).map((card) => [card.uuid, card]));
  const cards = uuids.flatMap((uuid, number) => {
    const tracked = machine.cards.get(uuid);
    const known = told.get(uuid);
    if (tracked !== undefined)
      return [calmed(known, cardOf(number, tracked, rules, labelOf(tracked.seen, isMixed)))];
    // Taken out, while a task has the number of another card: the numbers stay.
    if (known === undefined) return [];
    const { isWell: _, ...card } = known;
    return [{ ...card, number, state: 'gone', why: goneWords(null) } as const];
  });
  const remark = remarkOf(machine);
  const hidden = remark === null ? [] : hiddenCards(cards.length, count ?? 0, remark);
  const all = [
    ...toldApart(cards, machine),
    ...hidden.map((card) => ({ ...card, since: told.get(card.uuid)?.since ?? at })),
  ];
  const notes = [...machine.makers.values()].flatMap((maker) => maker.notes ?? []);
  const seen = { cards: all, driver: driverOf(machine), remark };
  const noted = notes.length === 0 ? seen : { ...seen, notes: notes.slice(0, GPU_NOTES_MAX) };
  return fence === null ? noted : { ...noted, fence };
}

/** A card that is listed no more has no number, which the machine may have given to another. */
function toldApart(cards: readonly GpuCard[], machine: Machine): GpuCard[] {
  const isListed = ({ uuid }: GpuCard): boolean => machine.cards.get(uuid)?.missing === 0;
  const there = new Set(cards.filter(isListed).map(cardLabel));
  return cards.map((card) => {
    if (isListed(card) || !there.has(cardLabel(card))) return card;
    return { ...card, label: shortUuid(card.uuid) };
  });
}

/** Declared cards of which no tool could tell yet: they are not given. */
function hiddenCards(from: number, to: number, remark: string): Omit<GpuCard, 'since'>[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, at) => ({
    number: from + at,
    index: null,
    uuid: `${HIDDEN}${from + at}`,
    vendor: 'unknown',
    name: 'gpu',
    type: 'gpu',
    memoryBytes: null,
    busId: '',
    state: 'unknown',
    why: `not known: ${remark}`,
    users: [],
  }));
}

/** Whether a card has been seen. */
export function isSeen({ uuid }: Pick<GpuCard, 'uuid'>): boolean {
  return !uuid.startsWith(HIDDEN);
}

/** Undefined: its number says enough. */
function labelOf(
  { vendor, index, partOf, ordinal }: SeenCard,
  isMixed: boolean,
): string | undefined {
  const number = partOf === undefined ? undefined : ordinal;
  return isMixed && index !== null ? `${vendor}:${number ?? index}` : number;
}

function cardOf(
  number: number,
  one: Tracked,
  { freeAfterMs }: CardRules,
  label: string | undefined,
): GpuCard {
  const { seen, state, since } = one;
  const { vendor, uuid, busId, index, name, type, memoryBytes, numaNode, partOf, linkedWith } =
    seen;
  return {
    number,
    index,
    ...(label === undefined ? {} : { label }),
    uuid,
    vendor,
    name,
    type,
    memoryBytes,
    busId,
    ...(numaNode === undefined ? {} : { numaNode }),
    ...(linkedWith === undefined ? {} : { linkedWith }),
    ...(partOf === undefined ? {} : { partOf }),
    state,
    why: whyOf(one, freeAfterMs),
    ...(one.wellSince === null ? {} : { isWell: true as const }),
    since,
    users: usersOf(one),
  };
}

/** Other things of the machine, by kind. */
export function countedOf({ makers }: Machine): Readonly<Record<string, number>> {
  return Object.assign({}, ...[...makers.values()].map(({ counted }) => counted));
}

function driverOf({ makers }: Machine): string | null {
  const all = [...makers].flatMap(([name, { driver }]) =>
    driver === null ? [] : [`${name} ${driver}`],
  );
  return all.length === 0 ? null : all.join(', ');
}

/** That a maker's tool finds no card says nothing on a machine with cards of another. */
function remarkOf({ makers, cards }: Machine): string | null {
  const vendors = new Set([...cards.values()].map(({ seen }) => seen.vendor));
  const all = [...makers].flatMap(([name, { remark }]) => {
    const isIdle = vendors.size > 0 && !vendors.has(name) && NO_CARDS.test(remark ?? '');
    return remark === null || isIdle ? [] : [`${name}: ${remark}`];
  });
  return all.length === 0 ? null : all.join('; ').slice(0, 500);
}

/** A card that was told before the agent was started, until its tool answers. */
export function recall(card: GpuCard, at: number, age: { readonly isOld: boolean }): Tracked {
  const { vendor, uuid, busId, index, name, type, memoryBytes, numaNode, partOf, linkedWith } =
    card;
  const seen: SeenCard = {
    vendor,
    uuid,
    busId,
    index,
    name,
    type,
    memoryBytes,
    memoryUsedBytes: null,
    busyPercent: null,
    ills: [],
    ...(numaNode === undefined ? {} : { numaNode }),
    ...(linkedWith === undefined ? {} : { linkedWith }),
    ...(partOf === undefined ? {} : { partOf }),
  };
  return remembered(seen, at, age);
}
