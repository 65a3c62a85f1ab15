// A command of LoadLeveler that did not succeed.

import type { Result } from '../../core/base/result.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { saidBy, siteProblem } from '../read.ts';

const AWAY = /cannot connect to|receiving data from the LoadL_\w+ daemon|is not running/i;

export function failure(program: string, output: SiteOutput): Result<never, SiteProblem> {
  const words = saidBy(output);
  const isAway = output.code === null || AWAY.test(words);
  return siteProblem(isAway ? 'away' : 'refused', `${program}: ${words}`);
}
