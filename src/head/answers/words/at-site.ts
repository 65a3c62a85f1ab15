// What is said of a task that was given to a site and has not begun there.

import { formatDuration } from '../../../core/base/duration.ts';
import { toPlainLine } from '../../../core/base/plain-line.ts';
import type { SiteStart } from '../../sites.ts';

/** `hpc has it as job 4711: PENDING (Resources), listed 3s ago`. */
export function sayAtSite(site: string, start: SiteStart | undefined): string {
  if (start === undefined) return `it is being given to site ${site}`;
  const { id, word, reason } = start.job;
  const why = reason === null ? '' : ` (${reason})`;
  const age =
    start.ageMs === null
      ? ''
      : `, listed ${formatDuration(Math.round(start.ageMs / 1000) * 1000)} ago`;
  return toPlainLine(`${start.site} has it as job ${id}: ${word}${why}${age}`);
}
