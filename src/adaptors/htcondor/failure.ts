// A command of HTCondor that did not succeed.

import type { Result } from '../../core/base/result.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { saidBy, siteProblem } from '../read.ts';

const AWAY =
  /can't find address|failed to (connect|contact|fetch ads|locate)|couldn't contact|communication error|connection refused/i;

export function failure(program: string, output: SiteOutput): Result<never, SiteProblem> {
  const words = saidBy(output);
  const isAway = output.code === null || AWAY.test(words);
  return siteProblem(isAway ? 'away' : 'refused', `${program}: ${words}`);
}
