// Small questions to the nodes of a YAML document.

import { isScalar, isSeq, type Node } from 'yaml';
import type { Key } from './key.ts';

/** Where a value begins; without one, where its key does. */
export function startOf(value: unknown, otherwise: Node): number {
  return (value as Node | null)?.range?.[0] ?? otherwise.range?.[0] ?? 0;
}

export function isNothing(value: unknown): boolean {
  return value === null || (isScalar(value) && value.value === null);
}

const LISTS: ReadonlySet<Key['type']> = new Set(['texts', 'nodes', 'labels', 'hours']);

/** A value as it was written; a list joined by commas. Null: it is of no such kind. */
export function textOf(value: Node | null, key: Pick<Key, 'type'>): string | null {
  if (isSeq(value) && LISTS.has(key.type)) {
    const items = value.items.map((item) => (isScalar(item) ? String(item.value) : null));
    return items.includes(null) ? null : items.join(',');
  }
  if (!isScalar(value) || value.value === null) return null;
  // The source, not the value: YAML would read 1:30 or 010 as numbers of its own.
  return typeof value.value === 'string' ? value.value : (value.source ?? String(value.value));
}
