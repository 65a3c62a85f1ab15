// The mark of jobs that a plugin of Slurm holds so that we let them go (docs/sites/slurm.md): it
// writes `weft` into the administrator's comment of each, and into the comment when its user wants
// it held, too.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { textOf } from '../read.ts';
import { listOf } from './listing.ts';
import { stringsOf } from './values.ts';

export const MARK = 'weft';
/** What we say of a job to its user follows. */
export const NOTE_START = `${MARK}: `;
/** Mark of a hold by the user; Slurm's users can write nothing but the comment. */
const HELD_BY_USER = 'weft: held by its user';

type Listed = Readonly<Record<string, unknown>>;

/** Held, it is so for us alone. */
export function isOursToRelease(listed: Listed): boolean {
  return isMarked(listed) && textOf(listed.comment) !== HELD_BY_USER;
}

/** Whether each job that is not over has the mark: the plugin saw all of them. */
export function areMarked(output: SiteOutput): Result<boolean, SiteProblem> {
  const listed = listOf('squeue', 'jobs', output);
  return listed.ok ? ok(listed.value.every((job) => isOver(job) || isMarked(job))) : listed;
}

function isOver(listed: Listed): boolean {
  return !stringsOf(listed.job_state).some((word) => /^(PENDING|RUNNING|SUSPENDED)$/.test(word));
}

function isMarked(listed: Listed): boolean {
  const comment = textOf(listed.admin_comment);
  return comment === MARK || comment?.startsWith(NOTE_START) === true;
}

/** What we have written there for its user, as `SiteJob.note`. */
export function noteIn(listed: Listed): { readonly note?: string | null } {
  const comment = textOf(listed.admin_comment);
  if (comment === null || comment === MARK) return {};
  const isOwn = comment.startsWith(NOTE_START);
  return { note: isOwn ? comment.slice(NOTE_START.length) : null };
}
