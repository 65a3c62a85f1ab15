// Jobs that wait for the start of others (`--after 12:start+10m`), or to be alone by their name. A
// start does not know who waits for it: these are looked at with each tick.

import type { JobId, UserName } from '../../model/ids.ts';
import type { Dependency, OutcomeKind } from '../../model/job.ts';
import type { State } from '../state.ts';
import type { Step } from '../step.ts';
import type { JobEvent } from './events.ts';
import type { Job } from './facts.ts';

export function hasFollowed({ state, at }: Step, dependency: Dependency): boolean {
  const on = state.jobs.get(dependency.jobId);
  // It ended so long ago that it is no longer held.
  if (on === undefined) return true;
  const overAt = followedAt(on, dependency);
  return overAt !== null && overAt <= at;
}

/**
 * When a job has followed the start of another for as long as it is to. Counts from its first
 * start, or from its end where it never started; null while some of it has yet to start.
 */
export function followedAt(on: Job, { delayMs = 0 }: Dependency): number | null {
  if (on.pending.size > 0 || on.behind.size > 0) return null;
  const since = on.startedAt ?? on.endedAt;
  return since === null ? null : since + delayMs;
}

/** Whether a job that ended so is what is waited for. */
export function meets({ condition }: Dependency, kind: OutcomeKind): boolean {
  if (condition === 'any' || condition === 'start') return true;
  return (condition === 'ok' || condition === 'each') === (kind === 'completed');
}

/** Whether all that the job wants of another is as it wants it; of one that is not done, starts. */
export function isFollowed(step: Step, job: Job, on: JobId): boolean {
  const kind = step.state.jobs.get(on)?.outcome?.kind;
  return job.spec.dependencies.every((dependency) => {
    if (dependency.jobId !== on || dependency.condition === 'each') return true;
    if (dependency.condition === 'start') return hasFollowed(step, dependency);
    return kind !== undefined && meets(dependency, kind);
  });
}

/** The newest of the owner's jobs of this name that are left, of those before `id`. */
export function olderNamesake(
  { state }: Step,
  { owner, name, id }: { readonly owner: UserName; readonly name: string; readonly id: JobId },
): JobId | undefined {
  let found: JobId | undefined;
  for (const job of state.jobs.values()) {
    if (job.id < id && job.outcome === null && job.owner === owner && job.spec.name === name)
      found = job.id;
  }
  return found;
}

/** One that is to be alone by its name goes on to wait for the next one, if there is any. */
export function dependencyMet(step: Step, job: Job, on: JobId): JobEvent {
  const met = { kind: 'dependency_met', jobId: job.id, on } as const;
  if (job.spec.singleton !== true) return met;
  const { id, owner, spec } = job;
  const next = olderNamesake(step, { id, owner, name: spec.name });
  return next === undefined || job.waitsFor.has(next) ? met : { ...met, next };
}

export function decideFollowing(step: Step): void {
  const { jobs, indexes } = step.state;
  for (const jobId of [...indexes.following]) {
    const job = jobs.get(jobId);
    for (const on of [...(job?.waitsFor ?? [])]) {
      if (job !== undefined && waitsForStart(job, on) && isFollowed(step, job, on))
        step.emit(dependencyMet(step, job, on));
    }
  }
}

/** After whom it waits for has changed. */
export function noteFollowing({ indexes }: State, job: Job): void {
  const waits = job.outcome === null && [...job.waitsFor].some((on) => waitsForStart(job, on));
  if (waits) indexes.following.add(job.id);
  else indexes.following.delete(job.id);
}

function waitsForStart({ spec }: Job, on: JobId): boolean {
  return spec.dependencies.some(({ jobId, condition }) => jobId === on && condition === 'start');
}
