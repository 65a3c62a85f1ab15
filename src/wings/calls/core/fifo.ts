// A queue with flat cost at both ends: a ring of places that are used again. An array that is cut
// from time to time leaves its old copies to V8, which takes what was in them for alive.

const FIRST_PLACES = 16;
/** More places than these are given back when it is empty. */
const KEPT_PLACES = 4096;
/** Entries that are over may be this many in a queue, however few are open. */
const OVER_MAX = 64;

export class Fifo<T> {
  /** Their number is a power of two. */
  #items: (T | undefined)[] = emptyOf(FIRST_PLACES);
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get first(): T | undefined {
    return this.#items[this.#head];
  }

  push(item: T): void {
    if (this.#length === this.#items.length) this.#grow();
    this.#items[(this.#head + this.#length) & (this.#items.length - 1)] = item;
    this.#length += 1;
  }

  shift(): T | undefined {
    if (this.#length === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#items.length - 1);
    this.#length -= 1;
    if (this.#length === 0 && this.#items.length > KEPT_PLACES) {
      this.#items = emptyOf(FIRST_PLACES);
      this.#head = 0;
    }
    return item;
  }

  /** Keeps only these, in order. O(n). */
  retain(keep: (item: T) => boolean): void {
    const [before, head, length] = [this.#items, this.#head, this.#length];
    this.#items = emptyOf(FIRST_PLACES);
    this.#head = 0;
    this.#length = 0;
    for (let at = 0; at < length; at += 1) {
      const item = before[(head + at) & (before.length - 1)] as T;
      if (keep(item)) this.push(item);
    }
  }

  #grow(): void {
    const before = this.#items;
    const { length } = before;
    this.#items = emptyOf(length * 2);
    for (let at = 0; at < length; at += 1) {
      this.#items[at] = before[(this.#head + at) & (length - 1)];
    }
    this.#head = 0;
  }
}

/**
 * Whether so much of what lies in a queue is over that it is to be cleared: each thing that ends
 * pays for a constant share of that, and what is kept is bounded by what is open.
 */
export function isMostlyOver(queued: number, open: number): boolean {
  return queued > 2 * open + OVER_MAX;
}

function emptyOf<T>(length: number): (T | undefined)[] {
  return Array.from({ length }, () => undefined);
}
