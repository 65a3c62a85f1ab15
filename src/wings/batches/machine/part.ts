// What batches add to the machine: their noun, and what a build means to the tasks of a batch.

import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import type { MachinePart, Unsatisfied } from '../../../kernel/machine/part.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { Step } from '../../../kernel/machine/step.ts';
import { formatBatch } from '../../../kernel/model/batch.ts';
import type { News } from '../../../kernel/model/notification.ts';
import { tell } from '../../notify/machine/due.ts';
import { joinBatch, noteInBatch } from './apply.ts';
import { batches } from './batches.ts';
import { batchPlace, batchShunning, buildOutcome, notShunning } from './build.ts';
import { followBuildFailure } from './build-failure.ts';
import { buildTime, noteReady, preparedNodes } from './ready.ts';
import { standingOf } from './standing.ts';

export const part: MachinePart = {
  nouns: [batches],
  givingIds: ['submit_batch', 'retry_batch'],
  hooks: {
    onJobAdded: joinBatch,
    onTasksEnded: noteInBatch,
    onBuilt: noteReady,
    timeBefore: buildTime,
    afterJob: tellOfBatch,
    failedBefore: buildOutcome,
    afterFailedBefore: followBuildFailure,
    hint: rebuildHint,
    launch(task) {
      const batch = batchPlace(task);
      return batch === null ? {} : { batch };
    },
    prepared: preparedNodes,
  },
};

/** Where a node would do if the build of the batch had not failed on it. */
function rebuildHint(state: State, { request, couldRun }: Unsatisfied): string | undefined {
  const batch = batchShunning(state, request);
  if (batch === undefined) return undefined;
  if (!couldRun({ ...request, labels: notShunning(request.labels, batch) })) return undefined;
  const verb = `weft batch rebuild ${formatBatch(batch)}`;
  return `The build of its batch has failed on nodes; \`${verb}\` tries them again.`;
}

/** A batch tells as a whole, with the last of its parts; all of them have the same wishes. */
function tellOfBatch(step: Step, { batch, spec }: Job): void {
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
