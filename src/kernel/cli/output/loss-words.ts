// A loss of accepted records in words, for `weft info` and `weft doctor`.

import type { InfoReply } from '../../api/cluster.ts';
import { formatInstant } from './words.ts';

type Loss = InfoReply['losses'][number];

/** Which jobs are gone, and since when the head goes on without them. */
export function lossWords(loss: Loss, now: number): string {
  return `${what(loss)}; accepted with --accept-loss ${formatInstant(loss.at, now)}`;
}

function what({ lastSeq, promisedSeq, jobIdFrom, jobIdTo }: Loss): string {
  const ids = jobIdTo === jobIdFrom ? `job ${jobIdFrom}` : `jobs ${jobIdFrom} to ${jobIdTo}`;
  if (promisedSeq === null || promisedSeq <= lastSeq) {
    return `what came after record ${lastSeq}, nobody knows how much (skipped: ${ids})`;
  }
  const jobs = jobIdTo < jobIdFrom ? 'with changes of jobs, but no whole job' : `with ${ids}`;
  return `records ${lastSeq + 1} to ${promisedSeq}, ${jobs}`;
}
