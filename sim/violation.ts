// How a run fails: which rule was broken, in words, and the exit code that says what kind it was.

import { BrokenInvariant } from '../src/kernel/base/assert.ts';

/**
 * A rule by its number in SPEC.md; `J` is about jobs, `A` and `P` about allocations and partitions,
 * `O` about pauses, `B` about batches, `T` about notifications, `C` about calls, `V` about gpus and
 * counted resources. `X`: of docs/simulation.md, about other clusters and repairs.
 */
export type Rule =
  | `${'S' | 'L' | 'J' | 'A' | 'P' | 'O' | 'B' | 'T' | 'C' | 'V' | 'X'}${number}`
  | 'belief'
  | 'crash';

export class Violation extends Error {
  override readonly name = 'Violation';
  readonly rule: Rule;

  constructor(rule: Rule, words: string, cause?: unknown) {
    super(words, { cause });
    this.rule = rule;
  }

  /** 127 crash, 128 liveness, 129 safety. */
  get exitCode(): number {
    if (this.rule === 'crash') return 127;
    return this.rule.startsWith('L') ? 128 : 129;
  }
}

/** Whatever was thrown, as a violation: a broken invariant is S9, anything else a crash. */
export function asViolation(error: unknown): Violation {
  if (error instanceof Violation) return error;
  if (error instanceof BrokenInvariant) return new Violation('S9', error.message, error);
  const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new Violation('crash', words, error);
}
