// What is said of a job or task as it stands: where it runs and since when, or how it ended.

import type { JobView } from '../../../api/jobs.ts';
import { formatInstant } from '../../../base/instant.ts';
import { asClause, asSentence } from '../../../base/sentence.ts';

export type Standing = Pick<
  JobView,
  'state' | 'outcome' | 'notice' | 'nodes' | 'startedAt' | 'endedAt'
> & { readonly reason?: JobView['reason'] };

export function sayStanding(standing: Standing): string {
  const { state, outcome, notice, reason, nodes, startedAt, endedAt } = standing;
  if (outcome !== null) {
    const when = endedAt === null ? '' : ` at ${formatInstant(endedAt)}`;
    const detail = outcome.detail === null ? '' : ` (${asClause(outcome.detail)})`;
    return `It is done${when}: ${outcome.kind}${detail}.`;
  }
  if (reason?.kind === 'site') {
    return asSentence(`It waits in the queue of its site: ${reason.words}`);
  }
  if (reason?.kind === 'next') return asSentence(`It is pending: ${reason.words}`);
  const words: string[] = [];
  if (nodes.length > 0) {
    const since = startedAt === null ? '' : ` since ${formatInstant(startedAt)}`;
    words.push(`It is ${state.replaceAll('_', ' ')} on ${nodes.join(', ')}${since}.`);
  }
  if (notice !== null) words.push(notice);
  return words.length === 0 ? `It is ${state.replaceAll('_', ' ')}.` : words.join(' ');
}
