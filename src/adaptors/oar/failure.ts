// A command of OAR that did not succeed.

import type { Result } from '../../core/base/result.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { saidBy, siteProblem } from '../read.ts';

const AWAY =
  /DB connection error|DBI connect|Connection refused|cannot connect|almighty|connection to server|canceling statement|timeout expired/i;

export function failure(program: string, output: SiteOutput): Result<never, SiteProblem> {
  const words = saidBy(output);
  const isAway = output.code === null || AWAY.test(words);
  return siteProblem(isAway ? 'away' : 'refused', `${program}: ${words}`);
}
