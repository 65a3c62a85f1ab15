// What each worker of a pool gets, said as of a job.

import {
  makeSubmission,
  type SubmitOptions,
  type Submitter,
} from '../../../kernel/cli/submit/options.ts';
import { WORKER_PROGRAM, type WorkerRequest } from '../model/pool.ts';

/** The wish that they make; throws a usage failure that names the option. */
export function workerRequest(options: SubmitOptions, submitter: Submitter): WorkerRequest {
  const { program: _, name: __, ...wish } = makeSubmission(WORKER_PROGRAM, options, submitter);
  return wish;
}
