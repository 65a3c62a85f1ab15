// What a program says of a job that it submits. `submission.ts` makes a submission of it.

import type { KnownOptions } from './known-options.ts';

/** Milliseconds, or text as `90s`, `1h30m`, `2-12:00:00`. */
export type Duration = number | string;
/** Bytes, or text as `512M`, `4G`. */
export type Size = number | string;

/** A job or one task of an array, by its handle, its number, or as `42[7]`. */
export type JobReference = { readonly id: string } | number | string;

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
export interface JobOptions {
  /** Default: the first word of the command. */
  readonly name?: string;
  /** Cpus per node. Default: what the partition says, usually 1. */
  readonly cpus?: number;
  /** Memory per node. */
  readonly memory?: Size;
  /** Gpus per node. */
  readonly gpus?: number;
  /** Other counted resources per node, by name. */
  readonly resources?: Readonly<Record<string, number>>;
  /** Nodes. Default: 1. */
  readonly nodes?: number;
  /** Processes per node, or with `mpi` ranks per node. Default: 1, with `mpi` the cpus. */
  readonly processes?: number;
  /** The program runs on the first node only; `mpirun` reaches the others (docs/mpi.md). */
  readonly mpi?: boolean;
  /** Whole nodes: nobody else runs there meanwhile. */
  readonly exclusive?: boolean;
  /** Labels that its nodes must have, or expressions as `gpu & !old`. */
  readonly needs?: string | readonly string[];
  /** Only these nodes. */
  readonly nodesNamed?: readonly string[];
  /** Time limit; `none`: no limit. Default: what the partition says. */
  readonly time?: Duration | 'none';
  /** A signal before the time limit, as `USR2@90s`. */
  readonly warning?: string;
  /** One task per index: `0-99`, `1,5,7`, `0-99:2`. */
  readonly array?: string;
  /** One task for each of these; `{}`, `{n}` or `{field}` in the command stand for it. */
  readonly each?: readonly EachItem[];
  /** At most this many tasks at once. */
  readonly atOnce?: number;
  /** Starts when these are done: a job, or `42:ok`, `42:any`, `42:fail`, `42:each`. */
  readonly after?: JobReference | readonly JobReference[];
  /** Not before this instant: a date, ms since 1970, or `+2h` from now. */
  readonly begin?: Date | number | string;
  /** Lower goes first among your own jobs, -100 to 100. */
  readonly nice?: number;
  /** It waits for `release`. */
  readonly hold?: boolean;
  /** `requeue`, `wait` or `lease=30m`. */
  readonly onNodeLoss?: string;
  /** `end`: all of a task ends when the kernel kills a process of it for memory. Default: `tell`. */
  readonly onOom?: 'tell' | 'end';
  /** False: a task whose node is lost ends instead of starting again. */
  readonly requeue?: boolean;
  /** Started again after a failed exit, at most so often. Default: 0. */
  readonly retries?: number;
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
  readonly partition?: string;
  /** Quality of service. */
  readonly qos?: string;
  /** Runs in the share and the time of this reservation. */
  readonly reservation?: string;
  /** Who is told of its end, as `matrix:@ann:lab`. */
  readonly notify?: string | readonly string[];
  /** File mode creation mask of its processes. Default: that of this program. */
  readonly umask?: number;
  /** The same key gives the same job, however often it is submitted: 1 to 200 ASCII characters. */
  readonly key?: string;
  /** Ends the submission, not the job. */
  readonly signal?: AbortSignal;
}

/** Their names, for programs without types. */
export const JOB_OPTIONS: KnownOptions<JobOptions> = {
  name: true,
  cpus: true,
  memory: true,
  gpus: true,
  resources: true,
  nodes: true,
  processes: true,
  mpi: true,
  exclusive: true,
  needs: true,
  nodesNamed: true,
  time: true,
  warning: true,
  array: true,
  each: true,
  atOnce: true,
  after: true,
  begin: true,
  nice: true,
  hold: true,
  onNodeLoss: true,
  onOom: true,
  requeue: true,
  retries: true,
  env: true,
  directory: true,
  in: true,
  out: true,
  stdout: true,
  stderr: true,
  stdin: true,
  partition: true,
  qos: true,
  reservation: true,
  notify: true,
  umask: true,
  key: true,
  signal: true,
};
