// A binary heap: the least entry first, insertion and removal in O(log n).

export class Heap<T> {
  readonly #before: (a: T, b: T) => boolean;
  #entries: T[];

  /** Takes the entries over and orders them in O(n). */
  constructor(before: (a: T, b: T) => boolean, entries: T[] = []) {
    this.#before = before;
    this.#entries = entries;
    this.#order();
  }

  get size(): number {
    return this.#entries.length;
  }

  get first(): T | undefined {
    return this.#entries[0];
  }

  push(entry: T): void {
    const entries = this.#entries;
    entries.push(entry);
    let at = entries.length - 1;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (!this.#before(entries[at] as T, entries[parent] as T)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  pop(): T | undefined {
    const first = this.#entries[0];
    const last = this.#entries.pop();
    if (this.#entries.length > 0) {
      this.#entries[0] = last as T;
      this.#sink(0);
    }
    return first;
  }

  /** The first entry has changed its place in the order. */
  firstChanged(): void {
    this.#sink(0);
  }

  /** Keeps only these. O(n). */
  retain(wanted: (entry: T) => boolean): void {
    this.#entries = this.#entries.filter(wanted);
    this.#order();
  }

  #order(): void {
    for (let at = (this.#entries.length >>> 1) - 1; at >= 0; at -= 1) this.#sink(at);
  }

  #sink(from: number): void {
    const entries = this.#entries;
    for (let at = from; ; ) {
      const left = 2 * at + 1;
      let least = at;
      for (const child of [left, left + 1]) {
        if (child < entries.length && this.#before(entries[child] as T, entries[least] as T)) {
          least = child;
        }
      }
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #swap(a: number, b: number): void {
    const moved = this.#entries[a] as T;
    this.#entries[a] = this.#entries[b] as T;
    this.#entries[b] = moved;
  }
}
