// Running again what did not complete of a job that is over, or all of it: as a new job, because
// done is final (S6), with the same indices and the same place in the array that it was.

import { IntervalSet } from '../../base/interval-set.ts';
import { ok, type Result } from '../../base/result.ts';
import type { Actor, UserActor } from '../../model/actor.ts';
import type { BlobHash } from '../../model/blob.ts';
import type { Refusal } from '../../model/errors.ts';
import { formatTaskId } from '../../model/ids.ts';
import { CLIENT_STDIN, type Dependency, type Retry } from '../../model/job.ts';
import type { Submission } from '../../model/submission.ts';
import type { Answer, Step } from '../step.ts';
import type { RetryJob } from './commands.ts';
import type { Job } from './facts.ts';
import { meets } from './following.ts';
import { readIndices } from './indices.ts';
import { submissionOf } from './resubmission.ts';
import { acceptSubmission, addJob, knownByKey, needUser } from './submit.ts';

export function decideRetry(step: Step, command: RetryJob, actor: Actor): Answer {
  if (actor.kind !== 'user') return needUser(step, actor.kind);
  const known = knownByKey(step, command.key, actor);
  if (known !== undefined) return ok({ kind: 'submitted', jobId: known, again: true });
  const found = retried(step, command, actor);
  if (!found.ok) return found;
  const { job, failed } = found.value;
  const dependencies =
    command.dependencies ?? openDependencies(step, job, { failed, retired: command.retired });
  if ('broken' in dependencies) {
    const { broken } = dependencies;
    const details = { job: String(job.id), on: String(broken.jobId), condition: broken.condition };
    return step.refuse('job.dependency_broken', details);
  }
  const unsent = command.inputs === undefined ? null : whyUnsent(job);
  if (unsent !== null) return step.refuse('argument.invalid', { what: unsent });
  const wish = wishOf(step, job, { failed, dependencies });
  const submission = withInputs(wish, command.inputs);
  const { retired } = command;
  const { stepKey } = job.spec;
  const opened = stepKey === undefined ? {} : { stepKey };
  const accepted = acceptSubmission(step, { submission, retired, ...opened }, actor);
  if (!accepted.ok) return accepted;
  const spec = { ...accepted.value.spec, retry: linkTo(job) };
  return addJob(step, { ...accepted.value, spec }, { actor, key: command.key });
}

/** The job, if it is the actor's own and over, and which of its tasks run again. */
function retried(
  step: Step,
  { jobId, all, indices }: RetryJob,
  actor: UserActor,
): Result<{ job: Job; failed: IntervalSet }, Refusal> {
  const text = { job: String(jobId) };
  const job = step.state.jobs.get(jobId);
  if (job === undefined) return step.refuse('job.not_found', text);
  // Not an operator either: the new job runs as whoever asks for it.
  if (job.owner !== actor.name || job.spec.system !== undefined) {
    return step.refuse('auth.not_owner', { ...text, owner: job.owner });
  }
  if (job.spec.foreign !== undefined) {
    const what = `job ${jobId} belongs to site ${job.spec.foreign.site}; submit it there again`;
    return step.refuse('argument.invalid', { what });
  }
  if (job.outcome === null) return step.refuse('job.not_done', text);
  if (job.spec.pool !== undefined) {
    const what = 'it has nothing to run again';
    return step.refuse('job.is_pool', { ...text, what }, '`weft pool start` starts another.');
  }
  if (job.spec.files.stdin === CLIENT_STDIN) {
    const what = `job ${jobId} read its input from \`weft run\`; it cannot be sent again`;
    return step.refuse('argument.invalid', { what }, 'Run the command again with its input.');
  }
  const failed = new IntervalSet();
  for (const [kind, indices] of job.ended) {
    if (kind === 'completed' && all !== true) continue;
    for (const [from, to] of indices.intervals()) failed.addRange(from, to);
  }
  if (failed.size === 0) return step.refuse('job.nothing_to_retry', text);
  if (indices === undefined) return ok({ job, failed });
  const chosen = chosenOf(step, job, { failed, indices });
  return chosen.ok ? ok({ job, failed: chosen.value }) : chosen;
}

/** The tasks that are named, if all of them can run again. */
function chosenOf(
  step: Step,
  job: Job,
  { failed, indices }: { readonly failed: IntervalSet; readonly indices: string },
): Result<IntervalSet, Refusal> {
  const chosen = readIndices(indices);
  if (!chosen.ok) return step.refuse('argument.invalid', { what: chosen.error });
  const other = IntervalSet.of(chosen.value.intervals());
  if (job.spec.array !== null) other.subtract(failed);
  const { first } = other;
  if (first === undefined) return chosen;
  const task = formatTaskId(job.id, first);
  const isCompleted = job.spec.array !== null && job.ended.get('completed')?.has(first) === true;
  if (!isCompleted) return step.refuse('job.not_found', { job: task });
  const what = `task ${task} completed`;
  return step.refuse('argument.invalid', { what }, 'With --all it runs again, too.');
}

/** Why its tasks cannot be given other files, in words; null: they can. */
function whyUnsent({ id, spec: { directory, batch } }: Job): string | null {
  if (batch !== undefined) return `the files of job ${id} are those of its batch`;
  if (directory.kind === 'private') return null;
  return `job ${id} runs in ${directory.path} with the files that are there; none are sent to it`;
}

function withInputs(wish: Submission, inputs: BlobHash | undefined): Submission {
  return inputs === undefined ? wish : { ...wish, staging: { ...wish.staging, inputs } };
}

/** Those not met any more or not yet: that of a job that is gone was met, or was no matter. */
function openDependencies(
  { state }: Step,
  { spec }: Job,
  { failed, retired }: { readonly failed: IntervalSet; readonly retired: RetryJob['retired'] },
): readonly Dependency[] | { readonly broken: Dependency } {
  for (const dependency of spec.dependencies) {
    if (!isMet(state.jobs.get(dependency.jobId), dependency, { failed, retired })) {
      return { broken: dependency };
    }
  }
  return [];
}

function isMet(
  on: Job | undefined,
  dependency: Dependency,
  { failed, retired }: { readonly failed: IntervalSet; readonly retired: RetryJob['retired'] },
): boolean {
  const kind = on?.outcome?.kind ?? retired[dependency.jobId]?.kind;
  if (kind === undefined) return true;
  if (dependency.condition !== 'each' || on === undefined) return meets(dependency, kind);
  const unmet = IntervalSet.of(failed.intervals());
  unmet.subtract(on.ended.get('completed') ?? new IntervalSet());
  return unmet.size === 0;
}

export function wishOf(
  { state }: Step,
  { spec }: Job,
  of: { readonly failed: IntervalSet; readonly dependencies: readonly Dependency[] },
): Submission {
  const { reservation } = spec;
  const isOpen = reservation !== undefined && state.reservations.has(reservation);
  return {
    ...submissionOf(spec),
    array: spec.array === null ? undefined : { ...spec.array, indices: of.failed.toString() },
    dependencies: of.dependencies,
    beginAt: undefined,
    held: false,
    // One that is over holds nobody back.
    reservation: isOpen ? reservation : undefined,
  };
}

/** A program that divides its work by its place in the array finds the same place again. */
function linkTo({ id, spec, firstIndex, lastIndex, taskCount }: Job): Retry {
  const own = { first: firstIndex, last: lastIndex, count: taskCount };
  return { of: id, array: spec.array === null ? null : (spec.retry?.array ?? own) };
}
