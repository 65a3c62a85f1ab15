// What a program says of a job that it submits. `submission.ts` makes a submission of it.

import { FIELD_ROWS, type ProgramOptions } from '../model/options/table.ts';
import type { KnownOptions } from './known-options.ts';

/**
 * What is run: a program with its arguments as they are, one line for the shell, or a whole script
 * that begins with `#!`.
 */
export type JobCommand =
  | readonly string[]
  | string
  | { readonly script: string; readonly args?: readonly string[] };

/** One task's share of `each`: what `{}` or `{field}` in the command stands for. */
export type EachItem = string | Readonly<Record<string, string | number | boolean>>;

/** What can be said of a job. Everything is optional. */
export interface JobOptions extends ProgramOptions {
  /** The program runs on the first node only; `mpirun` reaches the others (docs/mpi.md). */
  readonly mpi?: boolean;
  /** One task for each of these; `{}`, `{n}` or `{field}` in the command stand for it. */
  readonly each?: readonly EachItem[];
  /** At most this many tasks at once. */
  readonly atOnce?: number;
  /**
   * Variables of its processes. This program's own environment does not go with it, for it may hold
   * secrets: name what is needed, or write `env: process.env`.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * The directory that it runs in, which nodes must share; `private`: an empty one of its own on
   * the node. Default: where this program runs if nodes share that, else a private one. With `in`
   * or `out` it is private.
   */
  readonly directory?: string;
  /**
   * Files and folders of this machine that it finds in its directory: `data.csv`, `mesh/`,
   * `big.bin=input.bin` under another name, `folder=.` for what is in a folder.
   */
  readonly in?: string | readonly string[];
  /**
   * What is kept of the files that it leaves: `result/**`, `!*.tmp` but not these, `none`. Default:
   * all of them, as long as they are few.
   */
  readonly out?: string | readonly string[];
  /**
   * File of its standard output instead of `logs`; `%j` job, `%a` index, `%n` node, `%p` process.
   */
  readonly stdout?: string;
  /** File of its standard error. */
  readonly stderr?: string;
  /** File of its standard input. */
  readonly stdin?: string;
  /** The same key gives the same job, however often it is submitted: 1 to 200 ASCII characters. */
  readonly key?: string;
  /** Ends the submission, not the job. */
  readonly signal?: AbortSignal;
}

/** Their names, for programs without types. */
export const JOB_OPTIONS: KnownOptions<JobOptions> = {
  ...(Object.fromEntries(
    FIELD_ROWS.map(({ name }) => [name, true]),
  ) as KnownOptions<ProgramOptions>),
  mpi: true,
  each: true,
  atOnce: true,
  env: true,
  directory: true,
  in: true,
  out: true,
  stdout: true,
  stderr: true,
  stdin: true,
  key: true,
  signal: true,
};
