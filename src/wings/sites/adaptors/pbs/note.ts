// What we say of a job to its user, as the comment of the job, which `qstat -s` shows: PBS's own
// schedulers would write there why it does not run, and they are off.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { NotePlace, SiteOutput, SiteProblem } from '../adaptor.ts';
import { recordsIn, wordOf } from './values.ts';

const NOTE_START = 'weft: ';

/** For operators, as the starts of jobs are. A start by `qrun` writes its own comment there. */
export const jobComment: NotePlace = {
  write: (job, words) => [{ argv: ['qalter', '-W', `comment=${quoted(words)}`, job] }],
  written: { command: { argv: ['qstat', '-f', '-F', 'json'] }, read: readWritten },
};

/** A comma or an equals sign would begin the next attribute. */
function quoted(words: string | null): string {
  return words === null ? '' : `"${NOTE_START}${words.replaceAll('"', "'")}"`;
}

/** Returns null when it is no word of ours. */
export function noteIn(comment: string | null): string | null {
  return comment?.startsWith(NOTE_START) === true ? comment.slice(NOTE_START.length).trim() : null;
}

/** What PBS itself writes of a job that waits. */
const OWN_WORDS = /^(Not Running|Can Never Run|Job (manually|run|was|has|held|Array))\b/;

/** What others have written there, which stays, like `SiteJob.note`. */
export function othersNote(comment: string | null): { readonly note?: null } {
  const isFree = comment === null || noteIn(comment) !== null || OWN_WORDS.test(comment);
  return isFree ? {} : { note: null };
}

function readWritten(output: SiteOutput): Result<ReadonlyMap<string, string>, SiteProblem> {
  const listed = recordsIn('qstat', 'Jobs', output);
  if (!listed.ok) return listed;
  const written = new Map<string, string>();
  for (const [id, { comment }] of listed.value) {
    const note = noteIn(wordOf(comment));
    if (note !== null) written.set(id, note);
  }
  return ok(written);
}
