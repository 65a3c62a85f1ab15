// What each worker of a pool gets, said as of a job.

import {
  makeSubmission,
  type SubmitOptions,
  type Submitter,
} from '../../../kernel/cli/submit/options.ts';
import { WORKER_PROGRAM, type WorkerWish } from '../model/pool.ts';

/** The wish that they make; throws a usage failure that names the option. */
export function workerWish(options: SubmitOptions, submitter: Submitter): WorkerWish {
  const { program: _, name: __, ...wish } = makeSubmission(WORKER_PROGRAM, options, submitter);
  return wish;
}
