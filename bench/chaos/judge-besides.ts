// What goes on beside: copies of a cluster, slow uploads and the files that are kept, and a spy.

import type { Case } from './case.ts';
import type { CopyTrial, Kept } from './evidence.ts';

/** A head that is killed ends them, too. */
const SLOW_MS = 5000;
/** From the first content of a job that is sent to its submission. */
const SENT_MS = 10_000;

export function judgeBesides(all: Case): void {
  const { copies, kept, lacked, spied, slow } = all.evidence;
  for (const copy of copies) judgeCopy(all, copy);
  for (const one of kept) judgeKept(all, one);
  for (const at of lacked) judgeLacked(all, at);
  if (slow !== null && slow.longestMs < SLOW_MS) all.violate('not slow', 'no upload went on');
  if (spied === null) return;
  if (!spied.sawDecoy || spied.scans === 0) all.violate('not told', 'the spy has seen nothing');
  for (const line of spied.found) all.violate('a secret on a command line', line);
}

/** A submission to a head that has lost it; who sends it may be slow. */
function judgeLacked(all: Case, at: number): void {
  const wasLost = all.evidence.restores.some(({ putBackAt, goesOnAt }) => {
    return putBackAt <= at && at <= (goesOnAt ?? putBackAt) + SENT_MS;
  });
  if (wasLost) all.count('files sent to a store that was put back');
  else all.violate('a kept file is gone', `it had just been sent, and was lacking at ${at}`);
}

function judgeCopy(all: Case, { at, said, replaced, starts, ended }: CopyTrial): void {
  const wrong = [
    ...replaced.map((name) => `${name} is another process`),
    ...(starts === 1 ? [] : [`its task was started ${starts} times`]),
    ...(ended === 'failed 7' ? [] : [`its task ended as ${ended}`]),
  ];
  if (wrong.length === 0) return all.count('copies of a cluster');
  all.violate('a copy harmed its original', `${wrong.join(', ')}; at ${at}: ${said.join(' | ')}`);
}

/** What ended in records that are lost may have lost its files with them. */
function judgeKept(all: Case, { key, jobId, wrong }: Kept): void {
  if (wrong === null) return all.count('files kept to the end');
  const ends = all.evidence.tasks.filter((row) => row.jobId === jobId && row.final);
  if (ends.length > 0 && ends.every((end) => all.lostEnd(end))) {
    return all.count('files lost with the store that kept them');
  }
  all.violate('a kept file is gone', `job ${jobId} (${key}): ${wrong}`);
}
