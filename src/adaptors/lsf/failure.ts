// A command of LSF that did not succeed.

import type { Result } from '../../core/base/result.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { saidBy, siteProblem } from '../read.ts';

const AWAY =
  /please wait|daemon not responding|cannot connect to LSF|(LSF|LIM) is down|communication (error|time)/i;

export function failure(program: string, output: SiteOutput): Result<never, SiteProblem> {
  const words = saidBy(output);
  const isAway = output.code === null || AWAY.test(words);
  return siteProblem(isAway ? 'away' : 'refused', `${program}: ${words}`);
}
