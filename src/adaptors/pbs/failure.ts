// A command of PBS that did not succeed.

import type { Result } from '../../core/base/result.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { saidBy, siteProblem } from '../read.ts';

const AWAY = /cannot connect to server|connection (refused|timed out)|end of file/i;

/** The second of a job of which only the history knows. */
export const NO_SUCH_JOB = /Unknown Job Id|Job has finished/i;

export function failure(program: string, output: SiteOutput): Result<never, SiteProblem> {
  const words = saidBy(output);
  const isAway = output.code === null || AWAY.test(words);
  return siteProblem(isAway ? 'away' : 'refused', `${program}: ${words}`);
}
