// What must hold when jobs are changed and run again, judged against what is durable.

import type { Of } from '../../src/kernel/machine/events.ts';
import { parseIndices } from '../../src/kernel/machine/jobs/indices.ts';
import type { JobSpec, Retry } from '../../src/kernel/model/job.ts';
import type { JobTruth, Truth } from '../truth.ts';
import { Violation } from '../violation.ts';

/** S6: only what is over and did not complete is run again, and the old job stays as it is. */
export function checkRetry(truth: Truth, event: Of<'job_submitted'>, { of }: Retry): void {
  const { jobId, spec, owner } = event;
  const old = truth.jobs.get(of);
  if (old === undefined || old.outcome === null) {
    throw new Violation('S6', `job ${jobId} retries job ${of}, which is not over`);
  }
  if (old.owner !== owner) {
    throw new Violation('S6', `job ${jobId} of ${owner} retries job ${of} of ${old.owner}`);
  }
  const indices = spec.array === null ? [0] : parseIndices(spec.array.indices);
  for (const index of indices) {
    const kind = old.tasks.get(index)?.outcome?.kind;
    if (kind !== undefined && kind !== 'completed') continue;
    throw new Violation('S6', `job ${jobId} retries task ${index} of job ${of}, which is ${kind}`);
  }
}

/** S2: what a task was given does not change under it. */
export function checkChange(truth: Truth, { jobId, spec }: Of<'job_changed'>): void {
  const job = truth.jobs.get(jobId);
  if (job === undefined || job.outcome !== null) {
    throw new Violation('S6', `job ${jobId} is changed although it is over`);
  }
  if (!truth.holds(jobId) || givenBy(job.spec) === givenBy(spec)) return;
  throw new Violation('S2', `job ${jobId} asks for something else while a task of it runs`);
}

function givenBy({ request, walltimeMs, partition, qos, name, program }: JobSpec): string {
  return JSON.stringify([request, walltimeMs, partition, qos, name, program]);
}

/** S10: the task with its index has completed before it starts. */
export function checkElement(truth: Truth, job: JobTruth, index: number): void {
  for (const { jobId, condition } of job.spec.dependencies) {
    if (condition !== 'each') continue;
    const kind = truth.jobs.get(jobId)?.tasks.get(index)?.outcome?.kind;
    if (kind === 'completed') continue;
    const words = `${job.id}[${index}] starts before ${jobId}[${index}] completed`;
    throw new Violation('S10', words);
  }
}
