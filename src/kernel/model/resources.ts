// Amounts of what nodes have and tasks ask for. Vectors of counts: no identity, but for gpus.

import { isWhole } from '../base/whole.ts';
import {
  ANY_KIND,
  areAllOf,
  type Cards,
  cardsKey,
  combineCards,
  type GpuKind,
  holdsCards,
  inUseWithRoom,
  kindKey,
} from './cards.ts';
import {
  COUNTED_PER_NODE_MAX,
  CPUS_PER_NODE_MAX,
  GPUS_PER_NODE_MAX,
  MEMORY_PER_NODE_MAX,
  NODE_WORDS_MAX,
} from './limits.ts';

/** CPUs, memory and gpus of one node, and any resource the site counts (licences, slots…). */
export interface Resources {
  readonly cpuCount: number;
  readonly memoryBytes: number;
  readonly gpuCount: number;
  /** Name to count; an absent name is 0. */
  readonly counted: Readonly<Record<string, number>>;
  /** Which gpus are asked for. Absent: any whole ones, or it is no request. */
  readonly gpuKind?: GpuKind;
  /** What of each gpu, while starts are planned. Absent: they are only counted. */
  readonly cards?: Cards;
}

export const NO_RESOURCES: Resources = { cpuCount: 0, memoryBytes: 0, gpuCount: 0, counted: {} };

export function addResources(a: Resources, b: Resources): Resources {
  return combine(a, b, 1);
}

export function subtractResources(a: Resources, b: Resources): Resources {
  return combine(a, b, -1);
}

/** Whether a node may say that it has this: whole numbers, none beyond the limits of the model. */
export function isPlausible(resources: Resources): boolean {
  const { cpuCount, memoryBytes, gpuCount, counted } = resources;
  if (!isWhole(cpuCount, 0, CPUS_PER_NODE_MAX) || !isWhole(memoryBytes, 0, MEMORY_PER_NODE_MAX)) {
    return false;
  }
  const amounts = Object.values(counted);
  return (
    isWhole(gpuCount, 0, GPUS_PER_NODE_MAX) &&
    amounts.length <= NODE_WORDS_MAX &&
    amounts.every((amount) => isWhole(amount, 0, COUNTED_PER_NODE_MAX))
  );
}

/** Whether `wanted` is at most `free`, in every dimension. */
export function fitsIn(wanted: Resources, free: Resources): boolean {
  if (wanted.cpuCount > free.cpuCount || wanted.memoryBytes > free.memoryBytes) return false;
  if (wanted.gpuCount > 0 && !fitsGpus(wanted, free)) return false;
  for (const name in wanted.counted) {
    if ((wanted.counted[name] as number) > countOf(free, name)) return false;
  }
  return true;
}

/**
 * Whether any task can have some of it. Nothing left is how a node looks that belongs to an
 * exclusive task: even a request for nothing stays out.
 */
export function canHoldAny({ cpuCount, memoryBytes }: Resources): boolean {
  return cpuCount > 0 || memoryBytes > 0;
}

/** A share of a card takes no card from the count of those that nobody is on. */
function fitsGpus({ gpuCount, gpuKind }: Resources, free: Resources): boolean {
  if (free.cards === undefined) return gpuKind === undefined && gpuCount <= free.gpuCount;
  const kind = gpuKind ?? ANY_KIND;
  if (!holdsCards(free.cards, gpuCount, kind)) return false;
  // Of cards that nobody is on it may take no more than are not set aside for others.
  const idle = isShared(gpuKind) ? gpuCount - inUseWithRoom(free.cards, kind) : gpuCount;
  return idle <= Math.max(0, free.gpuCount);
}

/**
 * What is asked of a part of a node that is set aside: of its gpus only the number is. Where all
 * cards of the node are of the kind that is asked for, the number will do.
 */
export function askedOfPart(wanted: Resources, total: Resources): Resources {
  const { gpuKind, ...counts } = wanted;
  if (gpuKind === undefined || total.cards === undefined) return wanted;
  return areAllOf(total.cards, gpuKind) ? counts : wanted;
}

/** Whether only a part of each card is asked for. */
export function isShared(kind: GpuKind | undefined): boolean {
  return kind !== undefined && kind.shareBytes !== null;
}

/** Without what only those need who plan. */
export function plainAmounts({ cpuCount, memoryBytes, gpuCount, counted }: Resources): Resources {
  return { cpuCount, memoryBytes, gpuCount, counted };
}

/** How many of a counted resource there are; own names only, whatever objects inherit. */
export function countOf(resources: Resources, name: string): number {
  return Object.hasOwn(resources.counted, name) ? (resources.counted[name] as number) : 0;
}

/** A text equal for equal amounts and for no others: nodes and requests are classed by it. */
export function resourcesKey(r: Resources): string {
  const amounts = `${r.cpuCount}/${r.memoryBytes}/${r.gpuCount}${countedKey(r.counted)}`;
  return amounts + kindKey(r.gpuKind) + cardsKey(r.cards);
}

export function countedKey(counted: Resources['counted']): string {
  let key = '';
  for (const name of Object.keys(counted).sort()) {
    if (counted[name] !== 0) key += `/${name}=${counted[name]}`;
  }
  return key;
}

function combine(a: Resources, b: Resources, sign: 1 | -1): Resources {
  const cards = combineCards(a.cards, b.cards, sign);
  const sum: Resources = {
    cpuCount: a.cpuCount + sign * b.cpuCount,
    memoryBytes: a.memoryBytes + sign * b.memoryBytes,
    gpuCount: a.gpuCount + sign * b.gpuCount,
    counted: combineCounted(a.counted, b.counted, sign),
  };
  return cards === undefined ? sum : { ...sum, cards };
}

function combineCounted(
  a: Resources['counted'],
  b: Resources['counted'],
  sign: 1 | -1,
): Resources['counted'] {
  let empty = true;
  for (const _ in b) empty = false;
  if (empty) return a; // The common case: nothing counted, nothing to copy.
  const sum: Record<string, number> = { ...a };
  for (const name in b) sum[name] = (sum[name] ?? 0) + sign * (b[name] as number);
  return sum;
}
