// Which cards of the machine are a node's, each under a number of its own that stays the card's for
// as long as the machine is up: tasks hold cards by these numbers.

/** Which cards a node may have. */
export interface CardChoice {
  /** How many; null: all that nobody else has. */
  readonly count: number | null;
  /** The first of them, by the order of the machine. */
  readonly from: number;
  /** Only these: numbers of the machine, uuids or their beginnings, bus addresses; null: any. */
  readonly only: readonly string[] | null;
}

/** A card of the machine, as wishes name it. */
export interface Offered {
  readonly uuid: string;
  readonly index: number | null;
  readonly busId: string;
  readonly vendor: string;
}

/**
 * The node's cards by number: those that it had, then new ones. `machine`: all cards, in the order
 * of the machine.
 */
export function ownCards(
  had: readonly string[],
  machine: readonly Offered[],
  taken: ReadonlySet<string>,
  wish: CardChoice,
): string[] {
  const own = [...had];
  const isOpen = ({ uuid }: Offered): boolean => !taken.has(uuid) && !own.includes(uuid);
  const named = namedOf(machine, wish.only);
  const max = wish.count ?? Number.POSITIVE_INFINITY;
  const offered = wish.only === null ? named.slice(wish.from, wish.from + max) : named;
  for (const card of offered) {
    if (own.length >= max) break;
    if (isOpen(card)) own.push(card.uuid);
  }
  return own;
}

/**
 * What a node without tasks still has of its cards: those that are there, and that its owner names
 * now.
 */
export function keptWhenIdle(
  had: readonly string[],
  machine: readonly Offered[],
  { only, count }: CardChoice,
): string[] {
  const open = new Set(namedOf(machine, only).map(({ uuid }) => uuid));
  return had.filter((uuid) => open.has(uuid)).slice(0, count ?? had.length);
}

/** What is wrong with a name of the list. */
export interface UnmetName {
  readonly name: string;
  /** Makers of the cards with that number; empty: no card has the name. */
  readonly makers: readonly string[];
}

/** Names of the list that say no card, as somebody may have misspelt them, or of which maker. */
export function unmetNames(machine: readonly Offered[], { only }: CardChoice): UnmetName[] {
  return (only ?? []).flatMap((name): UnmetName[] => {
    const makers = makersOf(machine, name);
    if (makers.length > 1) return [{ name, makers }];
    return machine.some((card) => isNamed(card, name)) ? [] : [{ name, makers: [] }];
  });
}

function namedOf(machine: readonly Offered[], only: CardChoice['only']): readonly Offered[] {
  if (only === null) return machine;
  const clear = only.filter((name) => makersOf(machine, name).length <= 1);
  return machine.filter((card) => clear.some((name) => isNamed(card, name)));
}

/** Makers who count a card by this number; of anything but a number none. */
function makersOf(machine: readonly Offered[], name: string): string[] {
  if (!isNumber(name)) return [];
  const own = machine.filter((card) => isNamed(card, name));
  return [...new Set(own.map(({ vendor }) => vendor))].sort();
}

function isNumber(name: string): boolean {
  return /^\d+$/.test(name);
}

function isNamed({ uuid, index, busId, vendor }: Offered, name: string): boolean {
  if (isNumber(name)) return index === Number(name);
  const low = name.toLowerCase();
  if (low === `${vendor}:${index}`) return true;
  return uuid.toLowerCase().startsWith(low) || busId.endsWith(low);
}
