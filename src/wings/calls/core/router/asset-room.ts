// The room for functions and shared values of all pools of one head: whoever has none left gets
// that of others, who fetch again what they need.

/** One router. */
export interface Roommate {
  /** Lets go of what nobody has wanted for longest; false: all that it has is in use. */
  evict(): boolean;
}

export class AssetRoom {
  readonly #bytesMax: number;
  readonly #mates = new Set<Roommate>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  join(mate: Roommate): void {
    this.#mates.add(mate);
  }

  /** With all that it has. */
  leave(mate: Roommate, bytes: number): void {
    if (this.#mates.delete(mate)) this.#bytes -= bytes;
  }

  count(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Whether there is room for so much now. */
  make(bytes: number): boolean {
    for (const mate of this.#mates) {
      while (!this.#has(bytes) && mate.evict());
    }
    return this.#has(bytes);
  }

  #has(bytes: number): boolean {
    return this.#bytes + bytes <= this.#bytesMax;
  }
}
