// A job's specification as the history keeps it.

import { createHash } from 'node:crypto';
import type { Item, JobSpec } from '../model/job.ts';
import { shownTarget } from '../model/notification.ts';

export type KeptSpec = Omit<JobSpec, 'environment' | 'stepKey' | 'each'> & {
  /** Digest of a job's items: tells whether another submission has the same. */
  readonly itemsDigest?: string;
  /** The items themselves, unless they are many. */
  readonly items?: readonly Item[];
  /**
   * Indices of an array that is done, by how they ended: of tasks without a start, which have no
   * row, one way in which they ended is that of all others. Absent: there is one, or too many.
   */
  readonly ends?: Readonly<Record<string, string>>;
};

/** A sweep of a thousand points with three short values each; a row is written twice. */
const ITEMS_CHARACTERS_MAX = 65_536;

/** Variables, the key of steps and addresses of webhooks may be secrets, items may be many. */
export function keptSpecOf({ environment: _, stepKey: _key, each, ...rest }: JobSpec): KeptSpec {
  const shown =
    rest.notify === undefined ? rest : { ...rest, notify: rest.notify.map(shownTarget) };
  const itemsDigest = digestOf(each);
  if (itemsDigest === undefined) return shown;
  const items = each === undefined || rest.batch === undefined ? each : each.map(nameOnly);
  const isShort = items !== undefined && lengthOf(items) <= ITEMS_CHARACTERS_MAX;
  return { ...shown, itemsDigest, ...(isShort ? { items } : {}) };
}

/** What a batch makes of its file is long, and its jobs are known by their names. */
function nameOnly(item: Item): Item {
  return typeof item === 'string' ? item : { name: item['name'] ?? '' };
}

/** Counted only as far as it matters. */
function lengthOf(items: readonly Item[]): number {
  let length = 0;
  for (const item of items) {
    length += 4 + (typeof item === 'string' ? item.length : JSON.stringify(item).length);
    if (length > ITEMS_CHARACTERS_MAX) break;
  }
  return length;
}

/** A list may have many MB, and its job has several rows in its life. */
const DIGESTS = new WeakMap<readonly Item[], string>();

/** Undefined: there are none. The order of an item's fields does not count. */
export function digestOf(items: readonly Item[] | undefined): string | undefined {
  if (items === undefined) return undefined;
  const known = DIGESTS.get(items);
  if (known !== undefined) return known;
  const hash = createHash('sha256');
  for (const item of items) {
    const plain = typeof item === 'string' ? item : Object.entries(item).sort();
    hash.update(`${JSON.stringify(plain)}\n`);
  }
  const digest = hash.digest('base64');
  DIGESTS.set(items, digest);
  return digest;
}
