// Which jobs of a local run may start: those that come after others wait for them, and are left out
// where one of those did not complete.

import type { BatchJob } from '../../core/batch.ts';

type Ordered = Pick<BatchJob, 'name' | 'after'>;

export class Order {
  /** What runs in this run: the rest completed in an earlier one. */
  readonly #open: Set<string>;
  readonly #missing = new Set<string>();

  constructor(pending: readonly Ordered[]) {
    this.#open = new Set(pending.map(({ name }) => name));
  }

  isReady({ after }: Ordered): boolean {
    return !after.some((name) => this.#open.has(name));
  }

  /** The first that it comes after and that did not complete. */
  missingOf({ after }: Ordered): string | undefined {
    return after.find((name) => this.#missing.has(name));
  }

  /** Notes that a job is over. */
  note({ name }: Ordered, isCompleted: boolean): void {
    this.#open.delete(name);
    if (!isCompleted) this.#missing.add(name);
  }
}
