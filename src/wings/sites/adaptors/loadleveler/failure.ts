// A command of LoadLeveler that did not succeed.

import { failureBy } from '../read.ts';

export const failure = failureBy(
  /cannot connect to|receiving data from the LoadL_\w+ daemon|is not running/i,
);
