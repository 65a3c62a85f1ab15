// What a noun of the controller consists of. The machine is assembled from nouns (nouns.ts) and
// knows none of them by name.

import type { Actor } from '../model/actor.ts';
import type { Command } from './commands.ts';
import type { Event, Of } from './events.ts';
import type { State } from './state.ts';
import type { Answer, Step } from './step.ts';

/** Decides one kind of command; emits what follows, or refuses before anything has followed. */
export type Decide<K extends Command['kind']> = (
  step: Step,
  command: Extract<Command, { kind: K }>,
  actor: Actor,
) => Answer;

/** Applies one kind of event. `at`: the record's instant, ms since 1970. */
export type Apply<K extends Event['kind']> = (state: State, event: Of<K>, at: number) => void;

export type CommandTable = { readonly [K in Command['kind']]: Decide<K> };
export type EventTable = { readonly [K in Event['kind']]: Apply<K> };

/** `D`: its part of a snapshot, plain data. */
export interface Noun<C extends Command['kind'], E extends Event['kind'], D = object> {
  readonly commands: Pick<CommandTable, C>;
  readonly events: Pick<EventTable, E>;
  /** Its facts; indexes that follow from them are left out. */
  save(state: State): D;
  /** Into an empty state. Facts of nouns before it in the list are there already. */
  load(state: State, data: D): void;
  /** Its invariants (S9); throws. */
  readonly check?: (state: State) => void;
  /** What time alone brings. */
  readonly due?: (step: Step) => void;
}
