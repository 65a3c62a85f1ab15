// What owners ask of their batches once they are there: retry, cancel, remove.

import { present } from '../../../kernel/base/assert.ts';
import { IntervalSet } from '../../../kernel/base/interval-set.ts';
import { err, ok } from '../../../kernel/base/result.ts';
import { nameOf } from '../../../kernel/machine/authority.ts';
import { parseIndices } from '../../../kernel/machine/jobs/indices.ts';
import { wishOf } from '../../../kernel/machine/jobs/retry.ts';
import { type Accepted, acceptSubmission, needUser } from '../../../kernel/machine/jobs/submit.ts';
import type { Answer, Step } from '../../../kernel/machine/step.ts';
import { decideCancel } from '../../../kernel/machine/tasks/control.ts';
import type { Actor } from '../../../kernel/model/actor.ts';
import { type BatchRef, formatBatch } from '../../../kernel/model/batch.ts';
import { notShunning } from './build.ts';
import { findBatch, notOwner, ownBatch } from './find.ts';
import { inOrder, type Placed } from './order.ts';
import { currentParts, failedNumbers } from './standing.ts';
import { addParts, dependenciesOn, inBatch, nothingToRun, tryNodesAgain } from './submit.ts';

/** Makes new parts, because done is final (S6); the batch stays the same. */
export function decideRetryBatch(step: Step, batch: BatchRef, actor: Actor): Answer {
  if (actor.kind !== 'user') return needUser(step, actor.kind);
  const found = findBatch(step.state, batch);
  if (!found.ok) return found;
  // Not an operator either: the new parts run as whoever asks for them.
  if (found.value.owner !== actor.name) return notOwner(found.value);
  const failed = failedNumbers(found.value);
  const title = formatBatch(found.value);
  if (failed.size === 0) return err(nothingToRun(found.value));
  // One that is gone was removed by its owner: it is no matter any more.
  const others = found.value.after.flatMap((other) => step.state.batches.get(other) ?? []);
  const dependencies = dependenciesOn(step, others, title);
  if (!dependencies.ok) return dependencies;
  const parts: (Placed & { readonly accepted: Accepted })[] = [];
  for (const { part, items } of currentParts(found.value)) {
    const again = new IntervalSet();
    for (const item of items) if (failed.has(part.numbers[item] as number)) again.add(item);
    if (again.size === 0) continue;
    const job = step.state.jobs.get(part.jobId);
    if (job === undefined) {
      const hint = '`weft batch submit --resume FILE` runs it again from its files.';
      return step.refuse('batch.not_retained', { batch: title, job: String(part.jobId) }, hint);
    }
    const wish = wishOf(step, job, { failed: again, dependencies: dependencies.value });
    const submission = { ...wish, labels: notShunning(wish.labels ?? [], found.value) };
    const accepted = acceptSubmission(step, { submission, retired: {} }, actor);
    if (!accepted.ok) return accepted;
    const link = present(job.spec.batch, 'its link');
    parts.push({
      accepted: inBatch(accepted.value, link, found.value.build),
      numbers: [...again].map((item) => part.numbers[item] as number),
      after: link.after === undefined ? undefined : parseIndices(link.after),
    });
  }
  tryNodesAgain(step, title);
  const { namespace, name, version } = found.value;
  // Each waits only for what is there before it, so that a circle of two resumes holds up nothing.
  const all = (inOrder(parts) ?? parts).map(({ accepted }) => accepted);
  return addParts(step, all, { actor, name: { namespace, name, version }, key: null });
}

export function decideCancelBatch(step: Step, batch: BatchRef, actor: Actor): Answer {
  const found = ownBatch(step.state, batch, actor);
  if (!found.ok) return found;
  let count = 0;
  for (const { jobId } of found.value.parts) {
    const job = step.state.jobs.get(jobId);
    if (job === undefined || job.outcome !== null) continue;
    const answer = decideCancel(step, { place: { jobId, index: null } }, actor);
    if (!answer.ok) return answer;
    if (answer.value.kind === 'changed') count += answer.value.count;
  }
  return ok({ kind: 'changed', count });
}

/** What waits may start on every node again; what has ended is for a retry. */
export function decideRebuildBatch(step: Step, batch: BatchRef, actor: Actor): Answer {
  const found = ownBatch(step.state, batch, actor);
  if (!found.ok) return found;
  const title = formatBatch(found.value);
  if (found.value.build === null) return step.refuse('batch.no_build', { batch: title });
  step.emit({ kind: 'build_renewed', batch: title, by: nameOf(actor) });
  return ok({ kind: 'changed', count: 1 });
}

export function decideRemoveBatch(step: Step, batch: BatchRef, actor: Actor): Answer {
  const found = ownBatch(step.state, batch, actor);
  if (!found.ok) return found;
  const title = formatBatch(found.value);
  if (found.value.endedAt === null) {
    const hint = `\`weft batch cancel ${title}\` ends it.`;
    return step.refuse('batch.not_done', { batch: title }, hint);
  }
  step.emit({ kind: 'batch_removed', batch: title, by: nameOf(actor) });
  return ok({ kind: 'changed', count: 1 });
}
