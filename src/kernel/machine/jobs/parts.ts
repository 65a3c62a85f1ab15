// Writing to a job's collections. Most jobs in a long queue have empty ones, so those are shared:
// an empty Map of its own would cost each of 100,000 waiting jobs more than its command.

import { IntervalSet } from '../../base/interval-set.ts';
import { isSame } from '../../base/same.ts';
import type { JobId } from '../../model/ids.ts';
import type { JobSpec, Outcome, OutcomeKind } from '../../model/job.ts';
import type { State } from '../state.ts';
import type { Job, Task } from './facts.ts';

export const NO_TASKS: ReadonlyMap<number, Task> = new Map();
export const NO_ENDED: ReadonlyMap<OutcomeKind, IntervalSet> = new Map();
export const NO_BEHIND: ReadonlyMap<JobId, IntervalSet> = new Map();
export const NO_JOBS: ReadonlySet<JobId> = new Set();

export function addActive(job: Job, task: Task): void {
  if (job.active === NO_TASKS) job.active = new Map();
  (job.active as Map<number, Task>).set(task.index, task);
}

export function removeActive(job: Job, index: number): void {
  if (job.active === NO_TASKS) return;
  (job.active as Map<number, Task>).delete(index);
  if (job.active.size === 0) job.active = NO_TASKS;
}

/** The set of done tasks that `outcome` belongs to. */
export function endedSet(job: Job, outcome: Outcome): IntervalSet {
  if (job.ended === NO_ENDED) job.ended = new Map();
  let set = job.ended.get(outcome.kind);
  if (set === undefined) {
    set = new IntervalSet();
    (job.ended as Map<OutcomeKind, IntervalSet>).set(outcome.kind, set);
  }
  return set;
}

export function waitsForAll(ids: readonly JobId[]): ReadonlySet<JobId> {
  return ids.length === 0 ? NO_JOBS : new Set(ids);
}

/**
 * The specification with this environment; every part that equals the previous one's is that very
 * part. `bare` is compared as text: a walk over both takes ten times as long in a busy head.
 */
export function shareSpec(
  state: State,
  bare: JobSpec,
  environment: JobSpec['environment'],
): JobSpec {
  const last = state.scratch.lastSpec;
  const isLast = last?.bare === bare && last.spec.environment === environment;
  if (isLast) return last.spec;
  const text = JSON.stringify(bare);
  if (last !== null && last.text === text && last.spec.environment === environment)
    return last.spec;
  const parts = last === null ? {} : sharedParts(bare, last.spec);
  state.scratch.lastSpec = { bare, text, spec: { ...bare, ...parts, environment } };
  return state.scratch.lastSpec.spec;
}

function sharedParts(spec: JobSpec, last: JobSpec): Partial<JobSpec> {
  const same = <K extends keyof JobSpec>(key: K): JobSpec[K] =>
    isSame(spec[key], last[key]) ? last[key] : spec[key];
  return {
    name: same('name'),
    program: same('program'),
    directory: same('directory'),
    files: same('files'),
    request: same('request'),
    array: same('array'),
    dependencies: same('dependencies'),
    onNodeLoss: same('onNodeLoss'),
    partition: same('partition'),
  };
}
