// How long whoever has a step tries again to have its line, and how often.

import { LINGER_MS } from './limits.ts';

const FIRST_MS = 200;
const LONGEST_MS = 10_000;
/** One wait takes no more than such a part of the time that the node waits, to meet it in time. */
const PART = 10;

export class Retries {
  readonly #lingerMs: number;
  #failedSince: number | null = null;
  #unknownSince: number | null = null;
  #waitMs = FIRST_MS;

  constructor(lingerMs: number) {
    this.#lingerMs = lingerMs;
  }

  joined(): void {
    this.#failedSince = this.#unknownSince = null;
    this.#waitMs = FIRST_MS;
  }

  /**
   * How long to wait before the next try; null: it is enough. `isUnknown`: a head has answered that
   * there is no such step, which one that was started anew says only until its nodes have told it.
   */
  failed(now: number, isUnknown: boolean): number | null {
    this.#failedSince ??= now;
    this.#unknownSince = isUnknown ? (this.#unknownSince ?? now) : null;
    if (now - this.#failedSince > this.#lingerMs) return null;
    if (this.#unknownSince !== null && now - this.#unknownSince > LINGER_MS) return null;
    const waitMs = this.#waitMs;
    const mostMs = Math.min(LONGEST_MS, Math.max(FIRST_MS, this.#lingerMs / PART));
    this.#waitMs = Math.min(2 * waitMs, mostMs);
    return waitMs;
  }
}
