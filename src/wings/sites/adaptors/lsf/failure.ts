// A command of LSF that did not succeed.

import { failureBy } from '../read.ts';

export const failure = failureBy(
  /please wait|daemon not responding|cannot connect to LSF|(LSF|LIM) is down|communication (error|time)/i,
);
