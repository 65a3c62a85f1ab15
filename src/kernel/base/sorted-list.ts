// An ordered collection with O(sqrt n) insertion and removal and O(1) access to the first entry,
// kept in blocks so that 100,000 waiting jobs cost no long array shifts.

import { assert } from './assert.ts';

const BLOCK_MAX = 512; // A block is split beyond this: shifts stay within one or two cache pages.

export class SortedList<T> {
  readonly #compare: (a: T, b: T) => number;
  #blocks: T[][] = [];
  #size = 0;

  /** `compare` must be a total order: only identical entries may compare as 0. */
  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#size;
  }

  get first(): T | undefined {
    return this.#blocks[0]?.[0];
  }

  insert(entry: T): void {
    this.#size += 1;
    const last = this.#blocks.at(-1);
    if (last === undefined) {
      this.#blocks.push([entry]);
      return;
    }
    const at = this.#blockOf(entry);
    const block = this.#blocks[at] as T[];
    block.splice(this.#place(block, entry), 0, entry);
    if (block.length > BLOCK_MAX) this.#blocks.splice(at + 1, 0, block.splice(BLOCK_MAX >>> 1));
  }

  /** Removes the entry that compares as equal; it must be there. */
  remove(entry: T): void {
    const at = this.#blockOf(entry);
    const block = this.#blocks[at];
    const place = block === undefined ? -1 : this.#place(block, entry);
    const found = block?.[place];
    assert(found !== undefined && this.#compare(found, entry) === 0, 'the entry is in the list');
    (block as T[]).splice(place, 1);
    this.#size -= 1;
    if ((block as T[]).length === 0) this.#blocks.splice(at, 1);
  }

  has(entry: T): boolean {
    const block = this.#blocks[this.#blockOf(entry)];
    return block?.[this.#place(block, entry)] === entry;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const block of this.#blocks) yield* block;
  }

  /** From the first entry on that is not before; all that are must stand in front. */
  *from(isBefore: (entry: T) => boolean): Generator<T> {
    let at = placeOf(this.#blocks, (block) => isBefore(block.at(-1) as T));
    const block = this.#blocks[at];
    if (block === undefined) return;
    yield* block.slice(placeOf(block, isBefore));
    for (at += 1; at < this.#blocks.length; at += 1) yield* this.#blocks[at] as T[];
  }

  /** The block whose last entry is the first at or after `entry`, else the last block. */
  #blockOf(entry: T): number {
    const at = placeOf(this.#blocks, (block) => this.#compare(block.at(-1) as T, entry) < 0);
    return Math.min(at, this.#blocks.length - 1);
  }

  #place(block: T[], entry: T): number {
    return placeOf(block, (one) => this.#compare(one, entry) < 0);
  }
}

/** Position of the first one that is not before, found by halving; the length when all are. */
function placeOf<T>(list: readonly T[], isBefore: (one: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(list[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}
