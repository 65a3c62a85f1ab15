// What is said of a task that was given to a site and has not begun there.

import { formatDuration } from '../../../base/duration.ts';
import { toPlainLine } from '../../../base/plain-line.ts';
import { asClause } from '../../../base/sentence.ts';
import type { SiteHang, SiteStart } from '../../../model/site.ts';

/** `hpc has it as job 4711: PENDING (Resources), listed 3s ago`. */
export function sayAtSite(
  site: string,
  start: SiteStart | undefined,
  hang?: SiteHang | undefined,
): string {
  const silent = hang === undefined ? '' : `; the site does not answer${becauseOf(hang)}`;
  if (start === undefined) return toPlainLine(`it is being given to site ${site}${silent}`);
  const { id, word, reason } = start.job;
  const why = reason === null ? '' : ` (${reason})`;
  const age = start.ageMs === null ? '' : `, listed ${agoWords(start.ageMs)}`;
  return toPlainLine(`${start.site} has it as job ${id}: ${word}${why}${age}${silent}`);
}

/** `Site hpc does not answer (…), so that nobody knows how the task stands there now: …` */
export function sayHang(hang: SiteHang): string {
  const { site, ageMs } = hang;
  const last = ageMs === null ? 'it was never listed' : `it was listed last ${agoWords(ageMs)}`;
  return toPlainLine(
    `Site ${site} does not answer${becauseOf(hang)}, so that nobody knows how the task stands there now: ${last}.`,
  );
}

function becauseOf({ problem }: SiteHang): string {
  return problem === null ? '' : ` (${asClause(problem)})`;
}

function agoWords(ms: number): string {
  return `${formatDuration(Math.round(ms / 1000) * 1000)} ago`;
}
