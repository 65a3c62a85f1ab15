// Words about a user, as that user reads them.

import type { UserName } from '../../core/model/ids.ts';
import type { PendingReason } from '../../core/model/job.ts';

/** `You run 1 task …` to whom it is about, `ann runs 1 task …` to others. */
export function addressed(
  reason: PendingReason,
  owner: UserName,
  reader: UserName | null,
): PendingReason {
  const subject = `${owner} runs `;
  if (reason.kind !== 'quota' || owner !== reader || !reason.words.startsWith(subject)) {
    return reason;
  }
  return { ...reason, words: `you run ${reason.words.slice(subject.length)}` };
}
