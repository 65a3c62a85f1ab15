// A command of HTCondor that did not succeed.

import { failureBy } from '../read.ts';

export const failure = failureBy(
  /can't find address|failed to (connect|contact|fetch ads|locate)|couldn't contact|communication error|connection refused/i,
);
