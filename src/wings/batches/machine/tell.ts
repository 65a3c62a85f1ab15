// What is to be told of a batch that is done.

import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import type { Step } from '../../../kernel/machine/step.ts';
import { formatBatch } from '../../../kernel/model/batch.ts';
import type { News } from '../../../kernel/model/notification.ts';
import { tell } from '../../notify/machine/due.ts';
import { standingOf } from './standing.ts';

/** A batch tells as a whole, with the last of its parts; all of them have the same wishes. */
export function tellOfBatch(step: Step, { batch, spec }: Job): void {
  if (spec.notify === undefined || batch === undefined || batch.endedAt === null) return;
  const { outcome, ended } = standingOf(step.state, batch);
  if (outcome === null) return;
  const starts = batch.parts.map(({ jobId }) => step.state.jobs.get(jobId)?.startedAt ?? null);
  const begun = starts.filter((at) => at !== null);
  const news: News = {
    subject: { kind: 'batch', batch: formatBatch(batch) },
    name: batch.name,
    owner: batch.owner,
    outcome,
    counts: ended,
    submittedAt: batch.createdAt,
    startedAt: begun.length === 0 ? null : Math.min(...begun),
    endedAt: batch.endedAt,
  };
  tell(step, news, spec.notify);
}
