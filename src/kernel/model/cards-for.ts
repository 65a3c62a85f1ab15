// Which of a node's cards a task gets that asks for them by type, memory or a share: the least that
// does, so that whole and large cards stay for those who need them.

/** What a task asks of one node. */
export interface CardRequest {
  /** How many cards, or shares of as many cards. */
  readonly count: number;
  /** One of these types, each with all its variants: `a100` is also `a100-80g`; null: any. */
  readonly types: readonly string[] | null;
  /** Each card has at least that much; null: any. */
  readonly memoryBytesMin: number | null;
  /** Only so much of each card; null: whole cards. */
  readonly shareBytes: number | null;
  /** All of them joined with each other so; absent: however they are. */
  readonly links?: 'nvlink';
}

/** A card with what is left of it. */
export interface CardRoom {
  readonly number: number;
  readonly type: string;
  /** Null: not known, so that it meets no wish for memory. */
  readonly memoryBytes: number | null;
  /** Memory that no task has; all of it: no task is on the card. */
  readonly freeBytes: number | null;
  readonly isIdle: boolean;
  /** The card is a slice of one. */
  readonly isSlice: boolean;
  /** Null when the machine has one memory, or does not say. */
  readonly numaNode: number | null;
  /** The same for all that are joined by NVLink; absent: it is joined with none. */
  readonly linkedWith?: string;
}

/** Numbers of the cards, in their order; null: there are too few. */
export function cardsFor(request: CardRequest, cards: readonly CardRoom[]): number[] | null {
  const { count } = request;
  const fitting = cards.filter((card) => hasRoomOn(card, request));
  if (fitting.length < count) return null;
  const order = [...fitting].sort((a, b) => compare(a, b, request));
  const chosen = request.links === undefined ? near(order, count) : joined(order, count);
  return chosen?.map(({ number }) => number).sort((a, b) => a - b) ?? null;
}

/** How many of these cards one task could have that wants them joined: the most of one group. */
export function mostJoined(cards: readonly CardRoom[]): number {
  return Math.max(0, ...linkGroups(cards, 1).map(({ length }) => length));
}

/** Whether the card is one of those that are asked for, and has room. */
export function hasRoomOn(card: CardRoom, request: CardRequest): boolean {
  return isWanted(card, request) && hasRoom(card, request);
}

/** End of a type that says how much memory a whole card has. */
const MEMORY = /^-\d+g$/;

/**
 * Whether a card of this type is what somebody means who says `wanted`. A slice is meant only by
 * its own.
 */
export function isOfType(type: string, wanted: string): boolean {
  if (type === wanted) return true;
  return type.startsWith(`${wanted}-`) && MEMORY.test(type.slice(wanted.length));
}

function isWanted({ type, memoryBytes }: CardRoom, request: CardRequest): boolean {
  const { types, memoryBytesMin } = request;
  if (types !== null && !types.some((wanted) => isOfType(type, wanted))) return false;
  return memoryBytesMin === null || (memoryBytes ?? 0) >= memoryBytesMin;
}

function hasRoom({ isIdle, freeBytes }: CardRoom, { shareBytes }: CardRequest): boolean {
  return shareBytes === null ? isIdle : (freeBytes ?? 0) >= shareBytes;
}

/** Shares go where others are already, slices before whole cards, small cards before large ones. */
function compare(a: CardRoom, b: CardRoom, { shareBytes }: CardRequest): number {
  const far = Number.MAX_SAFE_INTEGER;
  const shared = shareBytes === null ? 0 : Number(a.isIdle) - Number(b.isIdle);
  const room = ({ freeBytes, memoryBytes }: CardRoom): number =>
    (shareBytes === null ? memoryBytes : freeBytes) ?? far;
  return (
    shared || Number(b.isSlice) - Number(a.isSlice) || room(a) - room(b) || a.number - b.number
  );
}

/** Joined by NVLink, and of these at one memory of the machine, where that costs no larger card. */
function near(order: readonly CardRoom[], count: number): readonly CardRoom[] {
  if (count < 2) return order.slice(0, count);
  const like = order.filter((one) => isLike(one, order[0]));
  return joined(like, count) ?? (atOneMemory(like, count) ?? order).slice(0, count);
}

/** Joined by NVLink: of the groups that hold so many one of the least cards. Null: none does. */
function joined(order: readonly CardRoom[], count: number): readonly CardRoom[] | null {
  const groups = linkGroups(order, count);
  const [least] = groups[0] ?? [];
  const group = tightest(groups.filter(([first]) => first !== undefined && isLike(first, least)));
  return group === null ? null : (atOneMemory(group, count) ?? group).slice(0, count);
}

function linkGroups(cards: readonly CardRoom[], least: number): CardRoom[][] {
  const linked = cards.filter(({ linkedWith }) => linkedWith !== undefined);
  return groupsOf(linked, least, ({ linkedWith }) => linkedWith);
}

function atOneMemory(cards: readonly CardRoom[], count: number): readonly CardRoom[] | null {
  return tightest(groupsOf(cards, count, ({ numaNode }) => numaNode));
}

/** Groups that hold so many, in the order of the first of each. */
function groupsOf<K>(
  cards: readonly CardRoom[],
  least: number,
  keyOf: (card: CardRoom) => K,
): CardRoom[][] {
  const groups = new Map<K, CardRoom[]>();
  for (const card of cards) {
    const group = groups.get(keyOf(card));
    if (group === undefined) groups.set(keyOf(card), [card]);
    else group.push(card);
  }
  return [...groups.values()].filter(({ length }) => length >= least);
}

/** The one with the fewest to spare; null: there is none. */
function tightest(groups: readonly CardRoom[][]): readonly CardRoom[] | null {
  return [...groups].sort((a, b) => a.length - b.length)[0] ?? null;
}

function isLike(a: CardRoom, b: CardRoom | undefined): boolean {
  return a.type === b?.type && a.isSlice === b.isSlice && a.isIdle === b.isIdle;
}
