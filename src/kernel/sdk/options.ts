// What can be said to the calls of the library besides what a job is: how long, which, where to.

import type { Duration, JobReference } from '../model/options/types.ts';
import { JOB_OPTIONS, type JobOptions } from './job-options.ts';
import type { KnownOptions } from './known-options.ts';

/** What `run` does besides what can be said of a job. */
export interface RunOptions extends JobOptions {
  /** Folder into which the files that it left are brought, as `pull` with `folders: false`. */
  readonly to?: string;
  /** False: a job that did not complete is no error. Default: true. */
  readonly check?: boolean;
}

export const RUN_OPTIONS: KnownOptions<RunOptions> = { ...JOB_OPTIONS, to: true, check: true };

/** How long to wait, and for what. */
export interface WaitOptions {
  /** `done`, the default, or `started`. */
  readonly until?: 'done' | 'started';
  /** Gives up after this span with a `WeftError` of code `wait.timeout`. Default: never. */
  readonly timeout?: Duration;
  /** Ends the waiting, not the job. */
  readonly signal?: AbortSignal;
}

export const WAIT_OPTIONS: KnownOptions<WaitOptions> = { until: true, timeout: true, signal: true };

/** Which output. */
export interface LogOptions {
  /** Default: `stdout`. */
  readonly stream?: 'stdout' | 'stderr';
  /** Goes on until the task is done and all of its output has come. Default: false. */
  readonly follow?: boolean;
  /** Which start of the task. Default: the last. */
  readonly epoch?: number;
  /** Which of its nodes, from 0. */
  readonly nodeRank?: number;
  /** Which process of that node, from 0. */
  readonly rank?: number;
  /** First byte. Default: 0. */
  readonly offset?: number;
  /** Bytes at most. */
  readonly limit?: number;
  /** Ends the reading. */
  readonly signal?: AbortSignal;
}

export const LOG_OPTIONS: KnownOptions<LogOptions> = {
  stream: true,
  follow: true,
  epoch: true,
  nodeRank: true,
  rank: true,
  offset: true,
  limit: true,
  signal: true,
};

/** Which output, as one text. */
export interface OutputOptions extends Omit<LogOptions, 'limit'> {
  /** Longer output is cut off behind this. Absent: more than 16 MiB is an error. */
  readonly bytesMax?: number;
}

export const OUTPUT_OPTIONS: KnownOptions<OutputOptions> = {
  stream: true,
  follow: true,
  epoch: true,
  nodeRank: true,
  rank: true,
  offset: true,
  bytesMax: true,
  signal: true,
};

/** Which events. */
export interface EventOptions {
  /** Only of these jobs. */
  readonly jobs?: JobReference | readonly JobReference[];
  /** Only of these kinds (docs/events.md). */
  readonly kinds?: string | readonly string[];
  /** Only events behind the one with this `seq`. Default: from now on. */
  readonly after?: number;
  /** Ends the stream: the iteration ends without an error. */
  readonly signal?: AbortSignal;
}

export const EVENT_OPTIONS: KnownOptions<EventOptions> = {
  jobs: true,
  kinds: true,
  after: true,
  signal: true,
};

/** Which files, and where to. */
export interface PullOptions {
  /**
   * The folder that gets `JOB/` or `JOB/INDEX/`. Default: where this program runs. What is there
   * with the same content is not fetched again; another file of that name is replaced.
   */
  readonly to?: string;
  /**
   * False: files come right into `to`, without a folder for their job; for one task. Default: true.
   */
  readonly folders?: boolean;
  /** Only paths that match one of them: `*.csv`, `result/**`, `!*.tmp`. */
  readonly glob?: string | readonly string[];
  /** Only paths that match one of these regular expressions. */
  readonly include?: string | readonly string[];
  /** No paths that match one of these regular expressions. */
  readonly exclude?: string | readonly string[];
  /** Ends the fetching. */
  readonly signal?: AbortSignal;
}

export const PULL_OPTIONS: KnownOptions<PullOptions> = {
  to: true,
  folders: true,
  glob: true,
  include: true,
  exclude: true,
  signal: true,
};
