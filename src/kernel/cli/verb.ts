// What every verb's file exports: how it is written on the command line, and what it does.

import type { Command } from 'commander';
import type { Context } from './context.ts';

/** One use of a verb, parsed. */
export interface Call<Options> {
  readonly context: Context;
  /** Operands, in order. */
  readonly args: readonly string[];
  readonly options: Options;
}

export interface Verb {
  /**
   * All words are its operands as they were typed, options too: such a program starts without what
   * reads options.
   */
  readonly isAsTyped?: boolean;
  /** Adds operands and options. */
  define(command: Command): void;
  /** Resolves with the exit code; throws `Failure`. */
  run(call: Call<Record<string, unknown>>): Promise<number>;
}

/** A group of verbs with one first word: `weft node list`. */
export interface VerbGroup {
  readonly verbs: Readonly<Record<string, { readonly summary: string; readonly verb: Verb }>>;
}

/** Which command a word means that is none; null: nobody knows. */
export type Meaning = (word: string) => string | null;

/** A program of several verbs that is not `weft`. */
export interface VerbProgram extends VerbGroup {
  readonly summary: string;
  /** Adds options that may stand before the verb. */
  define(command: Command): void;
  readonly meant?: Meaning;
}

/** Gives a verb the type of its options. Commander makes them by what `define` declares. */
export function defineVerb<Options extends object>(verb: {
  define(command: Command): void;
  run(call: Call<Options>): Promise<number>;
}): Verb {
  return { define: verb.define, run: (call) => verb.run(call as unknown as Call<Options>) };
}
