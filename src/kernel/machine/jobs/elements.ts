// Tasks of arrays that wait for the task of another array with their index: what they wait for at
// submission, and what its end means to them. Costs what ends, not how long the arrays are.

import { IntervalSet } from '../../base/interval-set.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import type { JobId } from '../../model/ids.ts';
import type { Dependency, JobSpec, Outcome, OutcomeKind } from '../../model/job.ts';
import type { Step } from '../step.ts';
import type { RetiredJobs } from './commands.ts';
import type { Job } from './facts.ts';
import { readIndices } from './indices.ts';

/** What the tasks of a new job wait for in another array. */
export interface Elements {
  readonly on: JobId;
  /** Those whose other task has not completed. */
  readonly waiting: IntervalSet;
  /** The waiting tasks that can never start, by how the task that they wait for ended. */
  readonly broken: ReadonlyMap<OutcomeKind, IntervalSet>;
}

/** Null: all that it waits for has completed. */
export function judgeElements(
  { state }: Step,
  { jobId: on }: Dependency,
  { array }: JobSpec,
  retired: RetiredJobs,
): Result<Elements | null, Refusal> {
  const wrong = (what: string) => err(refuse('argument.invalid', { what }));
  if (array === null) return wrong(`${on}:each is for arrays; use ${on}:ok, or give --array`);
  const job = state.jobs.get(on);
  const theirs = job === undefined ? retired[on]?.indices : job.spec.array?.indices;
  if (theirs !== array.indices) {
    const have = theirs == null ? 'is not an array' : `has the indices ${theirs}`;
    return wrong(`job ${on} ${have}, this one ${array.indices}; with :each they must be the same`);
  }
  if (job === undefined) {
    if (retired[on]?.kind === 'completed') return ok(null);
    return wrong(`which tasks of job ${on} completed is no longer known; use ${on}:any`);
  }
  const read = readIndices(array.indices);
  const waiting = read.ok ? read.value : new IntervalSet();
  const broken = new Map<OutcomeKind, IntervalSet>();
  for (const [kind, indices] of job.ended) {
    if (kind === 'completed') waiting.subtract(indices);
    else if (indices.size > 0) broken.set(kind, IntervalSet.of(indices.intervals()));
  }
  return ok(waiting.size === 0 ? null : { on, waiting, broken });
}

/** Tasks that have just ended, all in the same way. */
export interface EndedTasks {
  readonly job: Job;
  readonly indices: IntervalSet;
  readonly outcome: Outcome;
  /** When a plain job's task ended, by its node; absent: now. */
  readonly endedAt?: number;
}

/** Lets those start that waited for these tasks; gives those that never can, already ended. */
export function followElements(
  step: Step,
  { job: on, indices, outcome }: EndedTasks,
): EndedTasks[] {
  const more: EndedTasks[] = [];
  for (const id of [...(step.state.indexes.dependents.get(on.id) ?? [])]) {
    const job = step.state.jobs.get(id);
    const hit = common(job?.behind.get(on.id), indices);
    if (job === undefined || hit.size === 0) continue;
    if (outcome.kind === 'completed') {
      step.emit({ kind: 'element_met', jobId: id, on: on.id, indices: hit.toString() });
      continue;
    }
    const ended = { job, indices: hit, outcome: brokenElement(on.id, outcome.kind) };
    step.emit({
      kind: 'pending_ended',
      jobId: id,
      indices: hit.toString(),
      outcome: ended.outcome,
    });
    more.push(ended);
  }
  return more;
}

export function brokenElement(on: JobId, kind: OutcomeKind): Outcome {
  const detail = `waited for its task of job ${on} to complete; that ended as ${kind}`;
  return { kind: 'cancelled', detail };
}

/** Mostly one task has ended: that must not cost a walk over the array. */
function common(of: IntervalSet | undefined, indices: IntervalSet): IntervalSet {
  if (of === undefined) return new IntervalSet();
  if (indices.size === 1) {
    const index = indices.first as number;
    return IntervalSet.of(of.has(index) ? [[index, index]] : []);
  }
  const both = IntervalSet.of(indices.intervals());
  const others = IntervalSet.of(indices.intervals());
  others.subtract(of);
  both.subtract(others);
  return both;
}
