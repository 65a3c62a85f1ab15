// A command of OAR that did not succeed.

import { failureBy } from '../read.ts';

export const failure = failureBy(
  /DB connection error|DBI connect|Connection refused|cannot connect|almighty|connection to server|canceling statement|timeout expired/i,
);
