// What each worker of a pool gets, said as of a job.

import type { Command } from 'commander';
import {
  defineSomeOptions,
  makeSubmission,
  type SubmitOptions,
  type Submitter,
} from '../../../kernel/cli/submit/options.ts';
import { WORKER_PROGRAM, type WorkerWish } from '../model/pool.ts';

/** What says something of a process that stays. */
const OF_WORKERS: ReadonlySet<string> = new Set([
  ...['cpus', 'memory', 'gpus', 'resource', 'needs', 'site', 'nodes-named', 'exclusive'],
  ...['time', 'nice', 'chdir', 'private', 'output', 'error', 'env', 'clean-env', 'partition'],
  ...['qos', 'reservation', 'notify', 'umask', 'in'],
]);

/** Adds those of a job's options that describe a worker. */
export function defineWorkerOptions(command: Command): void {
  defineSomeOptions(command, OF_WORKERS);
}

/** The wish that they make; throws a usage failure that names the option. */
export function workerWish(options: SubmitOptions, submitter: Submitter): WorkerWish {
  const { program: _, name: __, ...wish } = makeSubmission(WORKER_PROGRAM, options, submitter);
  return wish;
}
