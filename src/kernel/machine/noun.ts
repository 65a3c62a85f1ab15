// What a noun of the controller consists of. The machine is assembled from nouns (nouns.ts) and
// knows none of them by name.

import type { Actor } from '../model/actor.ts';
import type { Command, Declared, Event, NounName } from './declared.ts';
import type { Of } from './events.ts';
import type { State } from './state.ts';
import type { Answer, Step } from './step.ts';

/** Decides one kind of command; emits what follows, or refuses before anything has followed. */
type Decide<K extends Command['kind']> = (
  step: Step,
  command: Extract<Command, { kind: K }>,
  actor: Actor,
) => Answer;

/** Applies one kind of event. `at`: the record's instant, ms since 1970. */
type Apply<K extends Event['kind']> = (state: State, event: Of<K>, at: number) => void;

export type CommandTable = { readonly [K in Command['kind']]: Decide<K> };
export type EventTable = { readonly [K in Event['kind']]: Apply<K> };

/** An element of a long list as a snapshot has it after the one before it. */
export type Brief = (element: object, before: object) => object;

/** A noun as the machine has it. */
export interface AnyNoun {
  readonly commands: object;
  readonly events: object;
  facts(): object;
  save(state: State): object;
  readonly long?: string;
  readonly brief?: Brief;
  load(state: State, data: object): void;
  readonly rebase?: (state: State, byMs: number) => void;
  readonly index?: (state: State) => void;
  readonly check?: (state: State) => void;
  readonly due?: (step: Step) => void;
}

/** `D`: its part of a snapshot, plain data; `S`: what it writes of it. */
export interface Noun<N extends NounName, D = object, S extends object = D & object> {
  readonly commands: Pick<CommandTable, Declared[N]['commands']['kind']>;
  readonly events: Pick<EventTable, Declared[N]['events']['kind']>;
  /** The noun's facts before anything has happened. */
  facts(): Declared[N]['facts'];
  save(state: State): S;
  /**
   * The list in what it saves that may be very long. Its elements stay as they are while the state
   * goes on: they become bytes in later turns.
   */
  readonly long?: keyof D & string;
  /** Leaves out what `load` takes from the element before. Absent: nothing. */
  readonly brief?: Brief;
  /** Loads the noun's facts into an empty state, after those of the nouns before it in the list. */
  load(state: State, data: D): void;
  /**
   * The head's wall clock was set by so much: instants of it from which something is counted, or at
   * which something ends that was given for a while, move along. What people said in dates stays.
   */
  readonly rebase?: (state: State, byMs: number) => void;
  /** Adds what follows from its facts to empty indexes. All facts are there. */
  readonly index?: (state: State) => void;
  /** Checks the noun's invariants (S9); throws. */
  readonly check?: (state: State) => void;
  /** What time alone brings. */
  readonly due?: (step: Step) => void;
}
