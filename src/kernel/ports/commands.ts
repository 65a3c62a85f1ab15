// Commands of the site: programs run without a shell, bounded in time and in what is kept of their
// output.

import type { Owner } from './files.ts';

export interface Command {
  /** Program and arguments. */
  readonly argv: readonly string[];
  /** After that it is killed, with all that it has started. */
  readonly timeoutMs: number;
  /** Which part of its output is kept, and how many characters. */
  readonly keep: { readonly part: 'first' | 'last'; readonly length: number };
  /** A command that prints more characters is ended, as after its time. Absent: any number. */
  readonly lengthMax?: number;
  /** The command's standard error is kept apart from its output. */
  readonly apart?: true;
  /** What it reads from its standard input; absent: nothing. */
  readonly input?: string;
  /** Variables beside those that it gets of this program. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The command gets `environment` and none of this program's variables. */
  readonly isBare?: true;
  /** Where it starts; absent: where this program is. */
  readonly directory?: string;
  /** Whose rights it has; absent: those of this program. */
  readonly user?: CommandUser;
}

export interface CommandUser extends Owner {
  /** Supplementary groups; absent: none. */
  readonly groups?: readonly number[];
}

export interface CommandEnd {
  /** Exit code 0, and in time. */
  readonly succeeded: boolean;
  /** Exit code; null: it was ended by a signal, was not in time, or could not be started. */
  readonly code: number | null;
  /** How it ended. */
  readonly how: string;
  /** Standard output and, unless kept apart, standard error, in the order in which they came. */
  readonly output: string;
  /** Standard error, where it is kept apart. */
  readonly errors: string;
  /**
   * Whether something of a command that was not in time still runs: no signal ends what hangs in
   * the kernel, and what sudo has made another's is not ours to kill.
   */
  readonly isThere: () => boolean;
}

export interface Commands {
  /** Takes bounded time and never rejects: what cannot be started has not succeeded. */
  run(command: Command): Promise<CommandEnd>;
}
