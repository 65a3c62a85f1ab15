// A command of PBS that did not succeed.

import { failureBy } from '../read.ts';

/** The second of a job of which only the history knows. */
export const NO_SUCH_JOB = /Unknown Job Id|Job has finished/i;

export const failure = failureBy(
  /cannot connect to server|connection (refused|timed out)|end of file/i,
);
