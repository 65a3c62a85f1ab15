// What a wing adds to the command line. Its verbs are listed at once, as their names and summaries
// are; whatever does something is loaded when it is used.

import type { Placed } from '../base/placed.ts';
import type { Hooks, HookWing } from './context.ts';
import type { Verb, VerbGroup, VerbProgram } from './verb.ts';

/** A verb of `weft` in the list of all. */
export interface VerbEntry {
  readonly name: string;
  readonly summary: string;
  readonly group: 'Jobs:' | 'Overview:' | 'Clusters:' | 'Administration:';
  readonly load: () => Promise<{ readonly verb: Verb | VerbGroup }>;
}

/** A verb of a wing in a group of the kernel: `weft node watch-session`. */
export interface InnerVerb extends Placed {
  readonly within: string;
  readonly summary: string;
  readonly load: () => Promise<{ readonly verb: Verb }>;
}

/** A program of its own: one verb, or several. */
export type WingProgram = VerbProgram | { readonly summary: string; readonly verb: Verb };

/** Everything that a wing adds. */
export interface CliPart extends Hooks {
  readonly verbs?: readonly (VerbEntry & Placed)[];
  readonly innerVerbs?: readonly InnerVerb[];
  /** By name. */
  readonly programs?: Readonly<Record<string, () => Promise<WingProgram>>>;
  /**
   * Given where they are typed all day: a package has them in a file of their own, and these
   * commands of `weft`, which they run, in another.
   */
  readonly often?: readonly string[];
}

/** A wing as the command line knows it. */
export interface CliWing extends HookWing {
  readonly cli?: CliPart;
}
