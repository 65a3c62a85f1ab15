// The time after a start in which the head cannot know yet that its store is the newest: before the
// first of its nodes has said what it heard, ids are not given out.

import type { Command } from '../core/controller/declared.ts';
import type { State } from '../core/controller/state.ts';
import type { Clock } from '../ports/clock.ts';

const GIVES_IDS: ReadonlySet<Command['kind']> = new Set([
  'submit_job',
  'submit_batch',
  'retry_job',
  'retry_batch',
]);

export class FirstWord {
  readonly #clock: Clock;
  readonly #patienceMs: number;
  #waiting: Promise<void> | null = null;
  #resolve: () => void = () => undefined;

  /** `patienceMs`: nodes that say nothing in this time are not waited for; 0: none ever is. */
  constructor(clock: Clock, patienceMs: number) {
    this.#clock = clock;
    this.#patienceMs = patienceMs;
  }

  /** A head without nodes has nobody to wait for. */
  begin({ nodes }: State): void {
    if (this.#patienceMs === 0 || ![...nodes.values()].some(({ session }) => session > 0)) return;
    const timer = this.#clock.after(this.#patienceMs, () => this.heard());
    this.#waiting = new Promise((resolve) => {
      this.#resolve = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  /** The head cannot know yet. */
  get isAwaited(): boolean {
    return this.#waiting !== null;
  }

  /** A node has said what it heard, or none does. */
  heard(): void {
    this.#waiting = null;
    this.#resolve();
  }

  /** Null: this command need not wait. */
  before(command: Command): Promise<void> | null {
    return GIVES_IDS.has(command.kind) ? this.#waiting : null;
  }
}
