// What goes on beside: copies of a cluster, slow uploads and the files that are kept, and a spy.

import type { Case } from './case.ts';
import type { CopyTrial, Kept } from './evidence.ts';

/** A head that is killed ends them, too. */
const SLOW_MS = 5000;

export function judgeBesides(all: Case): void {
  const { copies, kept, spied, slow } = all.evidence;
  for (const copy of copies) judgeCopy(all, copy);
  for (const one of kept) judgeKept(all, one);
  if (slow !== null && slow.longestMs < SLOW_MS) all.violate('not slow', 'no upload went on');
  if (spied === null) return;
  if (!spied.sawDecoy || spied.scans === 0) all.violate('not told', 'the spy has seen nothing');
  for (const line of spied.found) all.violate('a secret on a command line', line);
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
