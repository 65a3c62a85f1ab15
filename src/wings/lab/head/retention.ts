// Accounting records that are old enough go, a part at a time, so that nobody who asks waits for
// it.

import type { Clock } from '../../../kernel/ports/clock.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { Store } from '../../../kernel/ports/store.ts';

/** A record that stays an hour longer harms nobody; looking more often would. */
const LOOK_MS = 3_600_000;
/** Dependencies, retries and late output of a job still look for it that long. */
const SETTLED_MS = 86_400_000;

export interface Retained {
  readonly keepMs: number | null;
  readonly jobsMax: number | null;
  readonly exports?: boolean;
}

export interface RetentionWorld {
  readonly store: Pick<Store, 'prune'>;
  readonly clock: Clock;
  readonly log: Log;
}

export class Retention {
  readonly #world: RetentionWorld;
  #rule: Retained;
  #isBusy = false;
  /** By the clock that nobody sets; null: at once. */
  #nextAt: number | null = null;
  #gone = 0;

  constructor(rule: Retained, world: RetentionWorld) {
    this.#rule = rule;
    this.#world = world;
  }

  /** From the next look on, which is at once. */
  change(rule: Retained): void {
    this.#rule = rule;
    this.#nextAt = null;
  }

  /** With each look at the nodes. */
  tick(): void {
    const { keepMs, jobsMax, exports = false } = this.#rule;
    if (this.#isBusy || (keepMs === null && jobsMax === null)) return;
    const { clock, store, log } = this.#world;
    if (this.#nextAt !== null && clock.monotonic() < this.#nextAt) return;
    this.#isBusy = true;
    const now = clock.now();
    const endedBefore = keepMs === null ? null : now - keepMs;
    const rule = { endedBefore, jobsMax, settledBefore: now - SETTLED_MS };
    // Of its month, in UTC: 2026-11.
    const exportAs = `history-${new Date(now).toISOString().slice(0, 7)}`;
    store
      .prune(exports ? { ...rule, exportAs } : rule)
      .then(
        ({ jobs, isDone }) => {
          this.#gone += jobs;
          if (isDone) this.#rest();
        },
        (error: unknown) => {
          log.warn({ error: String(error) }, 'old accounting records could not be removed');
          this.#rest();
        },
      )
      .finally(() => {
        this.#isBusy = false;
      });
  }

  #rest(): void {
    const { clock, log } = this.#world;
    this.#nextAt = clock.monotonic() + LOOK_MS;
    if (this.#gone > 0) log.info({ jobs: this.#gone }, 'old accounting records are removed');
    this.#gone = 0;
  }
}
