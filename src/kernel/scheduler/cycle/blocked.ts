// What did not fit in a cycle: what is too much for an hour is so for two.

import type { Shape } from '../line/queue.ts';

export class Blocked {
  /** By shape without time: the shortest time limit that did not fit. */
  readonly #shortest = new Map<string, number>();

  has({ anyTimeKey, walltimeMs }: Shape): boolean {
    return (walltimeMs ?? Infinity) >= (this.#shortest.get(anyTimeKey) ?? Number.NaN);
  }

  add({ anyTimeKey, walltimeMs }: Shape): void {
    const known = this.#shortest.get(anyTimeKey) ?? Infinity;
    this.#shortest.set(anyTimeKey, Math.min(known, walltimeMs ?? Infinity));
  }
}
