// Every step that the controller decides, in order, per state in memory: what a replay needs beyond
// the disk, and the count by which a message's lack of effect is seen.

import type { Event } from '../src/kernel/machine/declared.ts';
import type { StepRecord } from '../src/kernel/machine/events.ts';
import type { State } from '../src/kernel/machine/state.ts';
import { Step } from '../src/kernel/machine/step.ts';

/** Looks at each event around its application. Must not throw. */
export interface StepWatch {
  before(step: Step, event: Event, first: boolean): void;
  after(step: Step, event: Event): void;
}

interface Kept {
  readonly steps: StepRecord[];
  durable: number;
}

export class StepLog {
  /** Events of all heads so far. */
  emitted = 0;
  readonly #kept = new WeakMap<State, Kept>();
  readonly #restore: () => void;

  constructor(watch: StepWatch) {
    const original = Step.prototype.emit;
    const log = this;
    const seen = new WeakSet<Step>();
    Step.prototype.emit = function emit(this: Step, event: Event): void {
      watch.before(this, event, this.events.length === 0);
      original.call(this, event);
      log.emitted += 1;
      watch.after(this, event);
      // A planted bug may leave the event out, or emit another one before this returns.
      if (this.events.length === 0 || seen.has(this)) return;
      seen.add(this);
      log.#of(this.state).steps.push({ v: 1, at: this.at, events: this.events });
    };
    this.#restore = () => {
      Step.prototype.emit = original;
    };
  }

  /** Notes that so many further steps of this state have become durable. */
  noteDurable(state: State, count: number): void {
    this.#of(state).durable += count;
  }

  /** Decided and not yet durable. */
  pending(state: State): readonly StepRecord[] {
    const { steps, durable } = this.#of(state);
    return steps.slice(durable);
  }

  /** Lets the real class go; one log at a time. */
  close(): void {
    this.#restore();
  }

  #of(state: State): Kept {
    let kept = this.#kept.get(state);
    if (kept === undefined) {
      kept = { steps: [], durable: 0 };
      this.#kept.set(state, kept);
    }
    return kept;
  }
}
