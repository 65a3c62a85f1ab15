// The steps that gather for one journal entry, and when they are committed: many share one fsync.

import type { StepRecord } from '../machine/events.ts';
import type { Refusal } from '../model/errors.ts';
import type { Clock, Timer } from '../ports/clock.ts';

/**
 * What nobody waits for joins the next commit, this much later at most: a short task's start is
 * mostly written together with its end, which saves one commit in three.
 */
const PATIENCE_MS = 5;

/** The steps of one journal entry, and what has to happen once it is durable. */
export interface Group {
  steps: StepRecord[];
  done: (() => void)[];
  failed: ((refusal: Refusal) => void)[];
}

export function emptyGroup(): Group {
  return { steps: [], done: [], failed: [] };
}

export class CommitPace {
  readonly #clock: Clock;
  readonly #isCommitting: () => boolean;
  readonly #commit: () => void;
  #isAsked = false;
  #isUrgent = false;
  #patience: Timer | null = null;

  /** Nothing is asked of `commit` while one is under way: who ends it asks again. */
  constructor(clock: Clock, isCommitting: () => boolean, commit: () => void) {
    this.#clock = clock;
    this.#isCommitting = isCommitting;
    this.#commit = commit;
  }

  /** Something has gathered that should not wait for more to come. */
  get isUrgent(): boolean {
    return this.#isUrgent;
  }

  askLater(): void {
    this.#patience ??= this.#clock.after(PATIENCE_MS, () => this.ask());
  }

  ask(): void {
    this.#isUrgent = true;
    if (this.#isAsked || this.#isCommitting()) return;
    this.#isAsked = true;
    this.#clock.soon(() => {
      this.#isAsked = false;
      this.#commit();
    });
  }

  /** What had gathered is on its way. */
  taken(): void {
    this.#isUrgent = false;
    this.#patience?.cancel();
    this.#patience = null;
  }
}
