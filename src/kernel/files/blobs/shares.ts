// Who gives room when all users together keep too much: those who keep more than an equal share, as
// long as they do. What one of them needs takes nothing from who keeps no more than that.

export interface SharesRule {
  readonly bytesMax: number;
  /** Room is made down to this part of it, so that not every byte begins the search again. */
  readonly leftShare: number;
}

export class Shares {
  readonly #byOwner: Map<string, number>;
  readonly #bytesMax: number;
  readonly #least: number;
  readonly #share: number;
  #all: number;

  /** What is kept of whom. */
  constructor(byOwner: ReadonlyMap<string, number>, { bytesMax, leftShare }: SharesRule) {
    this.#byOwner = new Map(byOwner);
    const kept = [...byOwner.values()].filter((bytes) => bytes > 0);
    this.#all = kept.reduce((sum, bytes) => sum + bytes, 0);
    this.#bytesMax = bytesMax;
    this.#least = this.#all > bytesMax ? bytesMax * leftShare : Number.POSITIVE_INFINITY;
    this.#share = (bytesMax * leftShare) / Math.max(1, kept.length);
  }

  /** False: nothing of this user goes. */
  gives(owner: string): boolean {
    const isEnough = this.#all <= this.#bytesMax && this.#all <= this.#least;
    return !isEnough && (this.#byOwner.get(owner) ?? 0) > this.#share;
  }

  /** Whether this goes, asked from the oldest on; what goes is not counted any more. */
  takes(owner: string, bytes: number): boolean {
    if (!this.gives(owner)) return false;
    // What has room goes only while it leaves that part: nothing large for a little spare room.
    if (this.#all <= this.#bytesMax && this.#all - bytes < this.#least) return false;
    this.#all -= bytes;
    this.#byOwner.set(owner, (this.#byOwner.get(owner) ?? 0) - bytes);
    return true;
  }
}
