// Applying what happened to batches and to the jobs in them.

import { assert, present } from '../../../kernel/base/assert.ts';
import { IntervalSet } from '../../../kernel/base/interval-set.ts';
import type { Of } from '../../../kernel/machine/events.ts';
import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import { indicesOf, parseIndices } from '../../../kernel/machine/jobs/indices.ts';
import type { State } from '../../../kernel/machine/state.ts';
import { formatBatch } from '../../../kernel/model/batch.ts';
import type { Outcome } from '../../../kernel/model/job.ts';
import { forgetFailures } from './build.ts';
import type { Batch } from './facts.ts';
import { noteFiles, readyBy } from './ready.ts';

export function applyBatchSubmitted(state: State, event: Of<'batch_submitted'>, at: number): void {
  const { batch, owner, origin, after, jobs, build } = event;
  const title = formatBatch(batch);
  assert(!state.batches.has(title), `batch ${title} is new`);
  state.batches.set(title, {
    ...batch,
    owner,
    origin,
    after,
    jobs,
    createdAt: at,
    parts: [],
    ended: new Map(),
    endedAt: null,
    build:
      build === undefined
        ? null
        : {
            ...build,
            turn: 0,
            attempts: 0,
            failed: new Map(),
            readyKey: build.key,
            ready: readyBy(state, event, build),
          },
  });
}

export function applyBatchResumed(state: State, event: Of<'batch_resumed'>): void {
  present(state.batches.get(event.batch), `batch ${event.batch}`).jobs = event.jobs;
}

export function applyBatchRemoved(state: State, event: Of<'batch_removed'>): void {
  forget(state, event.batch);
}

export function applyBatchesForgotten(state: State, event: Of<'batches_forgotten'>): void {
  for (const title of event.batches) forget(state, title);
}

function forget(state: State, title: string): void {
  const batch = state.batches.get(title);
  if (batch === undefined) return;
  forgetFailures(state, batch);
  state.batches.delete(title);
}

/** A new part: what it runs is not over any more. */
export function joinBatch(state: State, job: Job): void {
  if (job.spec.batch === undefined) return;
  const batch = state.batches.get(formatBatch(job.spec.batch));
  if (batch === undefined) return;
  job.batch = batch;
  const numbers = [...parseIndices(job.spec.batch.numbers)];
  const items = indicesOf(job.spec.array);
  batch.parts.push({ jobId: job.id, numbers, items });
  noteFiles(batch, job.spec.batch);
  const again = new IntervalSet();
  for (const item of items) again.add(numbers[item] as number);
  for (const [kind, ended] of batch.ended) {
    ended.subtract(again);
    if (ended.size === 0) batch.ended.delete(kind);
  }
  batch.endedAt = null;
}

/** Tasks of a part, by index, are over. */
export function noteInBatch(
  { id, batch }: Job,
  { indices, outcome, at }: { indices: Iterable<number>; outcome: Outcome; at: number },
): void {
  const part = batch?.parts.find(({ jobId }) => jobId === id);
  if (batch === undefined || part === undefined) return;
  const ended = batch.ended.get(outcome.kind) ?? new IntervalSet();
  batch.ended.set(outcome.kind, ended);
  for (const index of indices) ended.add(part.numbers[index] as number);
  if (endedCount(batch) === batch.jobs.length) batch.endedAt = at;
}

export function endedCount({ ended }: Pick<Batch, 'ended'>): number {
  let count = 0;
  for (const set of ended.values()) count += set.size;
  return count;
}
