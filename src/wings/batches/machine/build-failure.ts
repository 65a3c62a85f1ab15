// What follows when the solver of a batch could not be built on a node: without another one all
// that waits of the batch is over.

import { present } from '../../../kernel/base/assert.ts';
import { plural } from '../../../kernel/base/plural.ts';
import { waitingOf } from '../../../kernel/machine/jobs/behind.ts';
import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import { unsatisfiable } from '../../../kernel/machine/jobs/submit.ts';
import { schedulingOf } from '../../../kernel/machine/partitions/settings.ts';
import type { Step } from '../../../kernel/machine/step.ts';
import { endPending } from '../../../kernel/machine/tasks/ending.ts';
import { formatBatch } from '../../../kernel/model/batch.ts';
import type { EpochId, NodeName } from '../../../kernel/model/ids.ts';
import type { Outcome } from '../../../kernel/model/job.ts';
import { failedLabel } from './build.ts';
import type { Batch } from './facts.ts';

/** The task that has found it is in the queue again. */
export function followBuildFailure(
  step: Step,
  { batch }: Job,
  { node, epochId }: { readonly node: NodeName; readonly epochId: EpochId },
): void {
  if (batch?.build == null || step.state.batches.get(formatBatch(batch)) !== batch) return;
  if (batch.build.failed.has(node)) return;
  const { namespace, name, version } = batch;
  step.emit({ kind: 'build_failed', batch: { namespace, name, version }, node, epochId });
  endUnbuildable(step, batch);
}

/** Whatever waits of a batch that no node can build any more. */
export function endUnbuildable(step: Step, batch: Batch): void {
  if (batch.endedAt !== null || batch.build === null || batch.build.failed.size === 0) return;
  for (const { jobId } of batch.parts) {
    const job = step.state.jobs.get(jobId);
    if (job !== undefined) endIfUnbuildable(step, job, batch);
  }
}

/**
 * Jobs of batches that somebody runs again by themselves are of no batch, and shun the same nodes.
 * What is in the queue is enough: others of them come to it.
 */
export function endUnbuildableStrays(step: Step): void {
  const batches = new Map<string, Batch>();
  for (const batch of step.state.batches.values()) {
    const { build } = batch;
    if (build !== null && build.failed.size > 0) batches.set(`!${failedLabel(build)}`, batch);
  }
  if (batches.size === 0) return;
  for (const { shape, entries } of [...step.state.indexes.queue.groups.values()]) {
    const label = shape.request.labels.find((one) => batches.has(one));
    if (label === undefined) continue;
    for (const { jobId } of [...entries]) {
      const job = present(step.state.jobs.get(jobId), `job ${jobId}`);
      if (job.batch === undefined) endIfUnbuildable(step, job, batches.get(label) as Batch);
    }
  }
}

function endIfUnbuildable(step: Step, job: Job, batch: Batch): void {
  if (job.outcome !== null) return;
  const scheduling = schedulingOf(step.state, step.settings);
  if (unsatisfiable(step, job, scheduling) === null) return;
  const waiting = waitingOf(job);
  if (waiting.size > 0) endPending(step, job, waiting, failedEverywhere(batch));
}

function failedEverywhere({ build }: Batch): Outcome {
  const nodes = [...(build?.failed.keys() ?? [])];
  const shown = nodes.slice(0, 3).join(', ');
  const more = nodes.length > 3 ? ` and ${plural(nodes.length - 3, 'other node')}` : '';
  return { kind: 'build_failed', detail: `the build failed on ${shown}${more}` };
}
