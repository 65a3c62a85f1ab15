// One input's worth of decisions. `emit` applies each event at once, so that later decisions of the
// same step see it; the events of a step make one record, written whole or not at all.

import { assert } from '../base/assert.ts';
import { err, type Result } from '../base/result.ts';
import { type Code, type Details, type Refusal, refuse } from '../model/errors.ts';
import type { Settings } from '../model/settings.ts';
import type { Event } from './declared.ts';
import type { Reply } from './reply.ts';
import type { State } from './state.ts';

/** What a command comes to. */
export type Answer = Result<Reply, Refusal>;

type ApplyEvent = (state: State, event: Event, at: number) => void;

export class Step {
  readonly state: State;
  readonly settings: Settings;
  /** Wall clock of the head, ms since 1970. */
  readonly at: number;
  readonly events: Event[] = [];
  readonly #apply: ApplyEvent;

  /** `apply` is assembled from nouns, which all work with steps: so it comes as an argument. */
  constructor(
    state: State,
    { settings, at, apply }: { settings: Settings; at: number; apply: ApplyEvent },
  ) {
    this.state = state;
    this.settings = settings;
    this.at = at;
    this.#apply = apply;
  }

  emit(event: Event): void {
    this.#apply(this.state, event, this.at);
    this.events.push(event);
  }

  /** A refusal changes nothing, so it comes before the first event. */
  refuse<C extends Code>(code: C, details: Details<C>, hint?: string): Result<never, Refusal> {
    assert(this.events.length === 0, `nothing happened before the refusal ${code}`);
    return err(refuse(code, details, hint));
  }
}
