// What is known by rising numbers, most of it for a short time: a ring of places that are used
// again. A Map would do, but leaves its old tables to each other and to what they held, so that V8
// takes all that ever was in it for alive until it collects the whole heap.

const FIRST_PLACES = 256;
const PLACES_MAX = 65_536;

export class CallTable<T extends object> {
  #numbers: number[] = emptyOf(FIRST_PLACES, 0);
  #items: (T | undefined)[] = emptyOf(FIRST_PLACES, undefined);
  /** Those whose places others have taken: they last much longer than the rest. */
  readonly #late = new Map<number, T>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(number: number): boolean {
    return this.get(number) !== undefined;
  }

  get(number: number): T | undefined {
    const place = number & (this.#items.length - 1);
    if (this.#numbers[place] === number) {
      const item = this.#items[place];
      if (item !== undefined) return item;
    }
    return this.#late.size === 0 ? undefined : this.#late.get(number);
  }

  set(number: number, item: T): void {
    if (this.has(number)) this.delete(number);
    this.#size += 1;
    this.#put(number, item);
  }

  /** Whether it was there. */
  delete(number: number): boolean {
    const place = number & (this.#items.length - 1);
    if (this.#numbers[place] === number && this.#items[place] !== undefined) {
      this.#items[place] = undefined;
    } else if (!this.#late.delete(number)) return false;
    this.#size -= 1;
    return true;
  }

  clear(): void {
    this.#items.fill(undefined);
    this.#late.clear();
    this.#size = 0;
  }

  /** In the order of their numbers, as they are now. */
  values(): T[] {
    const all = [...this.#late];
    for (const [place, item] of this.#items.entries()) {
      if (item !== undefined) all.push([this.#numbers[place] as number, item]);
    }
    return all.sort(([one], [other]) => one - other).map(([, item]) => item);
  }

  #put(number: number, item: T): void {
    const { length } = this.#items;
    const place = number & (length - 1);
    const older = this.#items[place];
    if (older !== undefined) {
      if (this.#size * 2 > length && length < PLACES_MAX) {
        this.#grow();
        return this.#put(number, item);
      }
      this.#late.set(this.#numbers[place] as number, older);
    }
    this.#numbers[place] = number;
    this.#items[place] = item;
  }

  #grow(): void {
    const numbers = this.#numbers;
    const items = this.#items;
    this.#numbers = emptyOf(items.length * 2, 0);
    this.#items = emptyOf(items.length * 2, undefined);
    // Twice as many places: no two of them fall together.
    for (const [at, item] of items.entries()) {
      if (item === undefined) continue;
      const number = numbers[at] as number;
      this.#numbers[number & (this.#items.length - 1)] = number;
      this.#items[number & (this.#items.length - 1)] = item;
    }
  }
}

function emptyOf<V>(length: number, value: V): V[] {
  return Array.from({ length }, () => value);
}
