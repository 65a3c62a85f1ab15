// Which gpus a request misses on a node, and what nodes have instead.

import { plural } from '../../base/plural.ts';
import { formatSize } from '../../base/size.ts';
import { ANY_KIND, type GpuKind, matching } from '../../model/cards.ts';
import { isOfType } from '../../model/cards-for.ts';
import type { GpusApart } from '../../model/reason.ts';
import { kindWords } from '../../model/request-words.ts';
import type { Resources } from '../../model/resources.ts';

/** How many of a node's cards are such as the request wants, of those that have room. */
export function gpusFitting({ gpuCount, cards }: Resources, wanted: Resources): number {
  const { gpuKind } = wanted;
  if (cards === undefined) return gpuKind === undefined ? gpuCount : 0;
  return matching(cards, gpuKind ?? ANY_KIND);
}

/** `a100`, `gpus with 20G and more`, `shares of 8G`: what there is too little of. */
export function gpuNoun(kind: GpuKind, count: number): string {
  const words = kindWords(count, { ...kind, shareBytes: null }).replace(/^\d+ /, '');
  if (kind.shareBytes === null) return words;
  const share = plural(count, 'share').replace(/^\d+ /, '');
  return `${share} of ${formatSize(kind.shareBytes)}${kind.types === null ? '' : ` of ${words}`}`;
}

/** What keeps a node with these cards from ever having them; null: nothing. */
export function gpuLack(wanted: Resources, total: Resources): GpuLack | null {
  const { gpuCount, gpuKind } = wanted;
  if (gpuCount === 0 || gpuKind === undefined) return null;
  const has = gpusFitting(total, wanted);
  if (has >= gpuCount) return null;
  const share = (gpuCount - has) / gpuCount;
  if (has > 0) return { words: `has only ${has} ${gpuNoun(gpuKind, has)}`, share };
  const missing = missingWords(gpuKind);
  return { words: `has no ${missing}${insteadWords(total)}`, share };
}

/** `a100`, `gpu with 60G and more`, `gpu with 90G to share`. */
function missingWords(kind: GpuKind): string {
  const words = kindWords(1, kind).replace(/^1 /, '');
  return kind.shareBytes === null ? words : `${words} with ${formatSize(kind.shareBytes)} to share`;
}

export interface GpuLack {
  readonly words: string;
  /** What is missing as a part of what is asked for, from 0 to 1. */
  readonly share: number;
}

/** Types that stand in a message. */
const TYPES_MAX = 6;

function insteadWords({ gpuCount, cards }: Resources): string {
  if (gpuCount === 0) return '';
  if (cards === undefined) return ' (it does not tell which gpus it has)';
  const sizes = new Map<string, number>();
  for (const { type, memoryBytes } of cards.deck.cards) {
    const size = memoryBytes === null ? '' : ` ${formatSize(memoryBytes)}`;
    const words = `${type || 'unknown'}${size}`;
    sizes.set(words, (sizes.get(words) ?? 0) + 1);
  }
  const all = [...sizes].map(([words, count]) => (count === 1 ? words : `${count} ${words}`));
  const more = all.length > TYPES_MAX ? ', …' : '';
  return ` (its gpus: ${all.slice(0, TYPES_MAX).join(', ')}${more})`;
}

/** Types of all cards of these nodes. */
export function typesOn(nodes: Iterable<{ readonly total: Resources }>): readonly string[] {
  const types = new Set<string>();
  for (const { total } of nodes) {
    for (const { type } of total.cards?.deck.cards ?? []) if (type !== '') types.add(type);
  }
  return [...types].sort();
}

/** The type that is asked for and no node has; null: there is one of each, or of one of them. */
export function unknownType(wanted: Resources, known: readonly string[]): string | null {
  const { types = null } = wanted.gpuKind ?? ANY_KIND;
  if (types === null) return null;
  const isKnown = types.some((type) => known.some((one) => isOfType(one, type)));
  return isKnown ? null : (types[0] ?? null);
}

/** What of it nobody is on, over nodes of which none has enough; null: it is too little anyway. */
export function apartOf(
  nodes: readonly { readonly free: Resources }[],
  wanted: Resources,
): GpusApart | null {
  const { gpuCount, gpuKind = ANY_KIND } = wanted;
  if (gpuCount < 2) return null;
  if (gpuKind.links !== undefined) return unjoined(nodes, wanted, gpuKind);
  const each = nodes.map(({ free }) => gpusFitting(free, wanted));
  const count = each.reduce((sum, one) => sum + Math.max(0, one), 0);
  if (count < gpuCount || each.some((one) => one >= gpuCount)) return null;
  return { count, words: gpuNoun(gpuKind, count) };
}

/** Enough on one node, but of several groups. */
function unjoined(
  nodes: readonly { readonly free: Resources }[],
  wanted: Resources,
  { links: _, ...kind }: GpuKind,
): GpusApart | null {
  const anyhow = { ...wanted, gpuKind: kind };
  const node = nodes.find(({ free }) => {
    return (
      gpusFitting(free, anyhow) >= wanted.gpuCount && gpusFitting(free, wanted) < wanted.gpuCount
    );
  });
  if (node === undefined) return null;
  const count = gpusFitting(node.free, anyhow);
  return { count, words: gpuNoun(kind, count), unjoined: true };
}
