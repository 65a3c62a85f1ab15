// A command of Grid Engine that did not succeed.

import type { Result } from '../../core/base/result.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { saidBy, siteProblem } from '../read.ts';

const AWAY = /commlib error|unable to (send message to|contact) qmaster|could not get answer/i;

export function failure(program: string, output: SiteOutput): Result<never, SiteProblem> {
  const words = saidBy(output);
  const isAway = output.code === null || AWAY.test(words);
  return siteProblem(isAway ? 'away' : 'refused', `${program}: ${words}`);
}
