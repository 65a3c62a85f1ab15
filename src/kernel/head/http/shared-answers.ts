// Answers that all callers of one question share for a moment: many pages ask the same one at the
// same time, and each answer is long.

import type { Engine } from '../engine.ts';

const KEPT_MS = 1000;
/** Different questions kept; each is some MB at most. */
const KEPT_MAX = 16;

interface Kept {
  readonly at: number;
  readonly lives: number;
  readonly value: unknown;
}

export class SharedAnswers {
  readonly #engine: Pick<Engine, 'now' | 'lives'>;
  readonly #kept = new Map<string, Kept>();

  constructor(engine: Pick<Engine, 'now' | 'lives'>) {
    this.#engine = engine;
  }

  /** The answer to this question, a second old at most. One question is always of one type. */
  of<T>(question: string, answer: () => T): T {
    const at = this.#engine.now();
    // Made from a state that was thrown away: what it says may not be so.
    const { lives } = this.#engine;
    const isFresh = (kept: Kept): boolean =>
      kept.lives === lives && kept.at <= at && at - kept.at < KEPT_MS;
    const known = this.#kept.get(question);
    if (known !== undefined && isFresh(known)) return known.value as T;
    for (const [other, kept] of this.#kept) if (!isFresh(kept)) this.#kept.delete(other);
    const value = answer();
    if (this.#kept.size < KEPT_MAX) this.#kept.set(question, { at, lives, value });
    return value;
  }
}
