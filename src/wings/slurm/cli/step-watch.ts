// Ends what is left of a step when its options say so: asked first, and killed half a minute later.

import { constants } from 'node:os';
import type { Context } from '../../../kernel/cli/context.ts';
import type { Endings } from '../core/step-ending.ts';

const { SIGTERM, SIGKILL } = constants.signals;
/** The same as Slurm's KillWait. */
const GRACE_MS = 30_000;
/** The longest that timers of Node.js take. */
const TIMER_MAX_MS = 2 ** 31 - 1;

export interface WatchedStep {
  /** `42.0`. */
  readonly id: string;
  /** To all ranks that are left, and what they have started. */
  readonly signal: (number: number) => void;
}

export class StepWatch {
  readonly #context: Context;
  readonly #endings: Endings;
  readonly #step: WatchedStep;
  readonly #timers: NodeJS.Timeout[] = [];
  #isEnding = false;
  #isFirst = true;

  constructor(context: Context, endings: Endings, step: WatchedStep) {
    this.#context = context;
    this.#endings = endings;
    this.#step = step;
    const { limitMs } = endings;
    if (limitMs !== null)
      this.#later(limitMs, () =>
        this.#end(`error: *** STEP ${step.id} CANCELLED DUE TO TIME LIMIT ***`),
      );
  }

  /** One rank is over. */
  ended(code: number): void {
    const { killsOnBadExit, waitMs } = this.#endings;
    const { id } = this.#step;
    if (killsOnBadExit && code !== 0)
      this.#end(`Terminating StepId=${id}: a task exited with exit code ${code}`);
    if (waitMs !== null && this.#isFirst)
      this.#later(waitMs, () =>
        this.#end(`First task exited ${waitMs / 1000}s ago. Terminating StepId=${id}`),
      );
    this.#isFirst = false;
  }

  close(): void {
    this.#isEnding = true;
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
  }

  #end(why: string): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#context.error(`srun: ${why}\n`);
    this.#step.signal(SIGTERM);
    this.#later(GRACE_MS, () => this.#step.signal(SIGKILL));
  }

  #later(ms: number, act: () => void): void {
    const rest = ms - TIMER_MAX_MS;
    const then = rest > 0 ? () => this.#later(rest, act) : act;
    this.#timers.push(setTimeout(then, Math.min(ms, TIMER_MAX_MS)));
  }
}
