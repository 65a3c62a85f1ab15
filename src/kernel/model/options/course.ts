// Options that say when a job starts, and how it may end.

import { NICE_MAX, RETRIES_MAX } from '../limits.ts';
import { ON_OOM } from '../memory-use.ts';
import { parseDependency, parseOnNodeLoss, parseWarning } from '../submission-values.ts';
import type { OptionRow } from './row.ts';
import { choice, FLAG, INSTANT, type JobReference, several, whole, written } from './types.ts';

const textOf = (job: JobReference) => (typeof job === 'object' ? job.id : String(job));

export const COURSE = {
  /** Starts when these are done: a job, or `42:ok`, `42:any`, `42:fail`, `42:each`, `42:start`. */
  after: {
    flags: '--after <job[:ok|any|fail|each|start]>',
    words:
      'start when this job is done; with :each task by task of an array with the same indices, with :start or :start+10m when it has started (repeatable)',
    many: true,
    field: 'dependencies',
    type: several(parseDependency, textOf, 'JobReference'),
    theirs: '--dependency -d',
    offers: 'jobs',
  },
  /** Starts when no older job of the same name and owner is left. */
  singleton: {
    flags: '--singleton',
    words: 'start when none of your older jobs of the same name is left',
    field: 'singleton',
    type: FLAG,
    kept: { omit: false },
  },
  /** Not before this instant: a date, ms since 1970, or `+2h` from now. */
  begin: {
    flags: '--begin <time>',
    words: 'not before: +2h, 18:30, 2026-01-31T18:30',
    field: 'beginAt',
    type: INSTANT,
    change: {
      while: 'running',
      words: 'not before: +2h, 18:30, 2026-01-31T18:30; now lets it start',
    },
    theirs: '-b',
  },
  /** Lower goes first among your own jobs, -100 to 100. */
  nice: {
    flags: '--nice <number>',
    words: 'lower goes first among your own jobs, -100 to 100',
    field: 'nice',
    type: whole(-NICE_MAX, NICE_MAX),
    pool: true,
    change: { while: 'running' },
    kept: { default: 0 },
    sbatch: '--nice',
  },
  /** The job waits for `release`. */
  hold: {
    flags: '--hold',
    words: 'do not start before `weft release`',
    field: 'held',
    type: FLAG,
    theirs: '-H',
    sbatch: '--hold',
  },
  /** A signal before the time limit, as `USR2@90s`. */
  warning: {
    flags: '--signal <signal@time>',
    words: 'send this before the time limit: USR2@90 or TERM@5m; USR1 alone: 60s',
    field: 'warning',
    type: written(parseWarning),
    change: {
      while: 'pending',
      words: 'signal before the time limit: USR2@90, or none',
      none: true,
    },
  },
  /** `requeue`, `wait` or `lease=30m`. */
  onNodeLoss: {
    flags: '--on-node-loss <what>',
    words: 'requeue, wait or lease=30m',
    field: 'onNodeLoss',
    type: written(parseOnNodeLoss),
    offers: ['requeue', 'wait', 'lease='],
  },
  /** `end`: all of a task ends when the kernel kills one process for memory. Default: `tell`. */
  onOom: {
    flags: '--on-oom <what>',
    words:
      'when the kernel kills a process for memory and the rest goes on: tell (default) or end it all',
    field: 'onOom',
    type: choice(ON_OOM),
    kept: { omit: 'tell' },
  },
  /** False: a task whose node is lost ends instead of starting again. */
  requeue: {
    flags: '--no-requeue',
    words: 'end a task whose node is lost, instead of requeueing it',
    field: 'requeue',
    type: FLAG,
    kept: { default: true },
  },
  /** Started again after a failed exit, at most so often. Default: 0. */
  retries: {
    flags: '--retries <count>',
    words: 'start again after a failed exit, at most this often',
    field: 'retriesMax',
    type: whole(0, RETRIES_MAX),
    batch: {
      words: 'How often a job that failed is run again.',
    },
    kept: { default: 0 },
    theirs: '--crash-limit',
  },
} as const satisfies Readonly<Record<string, OptionRow>>;
