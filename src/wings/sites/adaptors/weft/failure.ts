// A command of weft that did not succeed: its exit code is the kind of the refusal
// (docs/errors.md).

import type { Result } from '../../../../kernel/base/result.ts';
import { KINDS } from '../../../../kernel/model/errors.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { saidBy, siteProblem } from '../read.ts';

const NO: readonly number[] = [
  ...[KINDS.invalid_argument, KINDS.not_found, KINDS.permission_denied],
  ...[KINDS.already_exists, KINDS.failed_precondition],
].map(({ exit }) => exit);

/** That its user is nobody there, or the other side not the head, is no word on a job. */
const NOBODY = /Not logged in|This token|shows certificate|is not the head/;

export function failure(output: SiteOutput): Result<never, SiteProblem> {
  const words = saidBy(output);
  const isNo = output.code !== null && NO.includes(output.code) && !NOBODY.test(words);
  const text = words.startsWith('weft: ') ? words : `weft: ${words}`;
  return siteProblem(isNo ? 'refused' : 'away', text);
}

export function hasNoJob({ code, stderr }: SiteOutput): boolean {
  return code === KINDS.not_found.exit && /\bNo job \d+/.test(stderr);
}

export function isDone({ code, stderr }: SiteOutput): boolean {
  return code === KINDS.failed_precondition.exit && /\bis already done\b/.test(stderr);
}
