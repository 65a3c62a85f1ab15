// Changing a job that waits: what changes is checked as if the job were submitted now.

import { err, ok, type Result } from '../../base/result.ts';
import type { Actor } from '../../model/actor.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import type { JobSpec } from '../../model/job.ts';
import { changingOf } from '../../model/options/kept.ts';
import { CHANGED_WHILE_RUNNING, FIELD_ROWS } from '../../model/options/table.ts';
import type { JobChange, Submission } from '../../model/submission.ts';
import { nameOf, ownJob } from '../authority.ts';
import { refusedMove } from '../partitions/admission.ts';
import { schedulingOf } from '../partitions/settings.ts';
import type { Answer, Step } from '../step.ts';
import { isNext, shownState } from '../tasks/shown-state.ts';
import { waitingSize } from './behind.ts';
import type { ChangeJob } from './commands.ts';
import type { Job } from './facts.ts';
import { checkFit, findReservation } from './in-reservation.ts';
import { submissionOf } from './resubmission.ts';
import { completeSpec } from './spec.ts';
import { groundsOf, unsatisfiable } from './submit.ts';

/** What tasks that run have been given or told: not while one of them does. */
const PLACING: readonly (keyof JobChange)[] = FIELD_ROWS.filter(
  ({ change }) => change?.while === 'pending',
).map(({ field }) => field as keyof JobChange);

/** What makes a pool what it is. */
const OF_POOLS = [
  'runningMax',
  'name',
  'nodeCount',
] as const satisfies readonly (keyof JobChange)[];

export function decideChange(step: Step, { jobId, change }: ChangeJob, actor: Actor): Answer {
  const owned = ownJob(step, jobId, actor);
  if (!owned.ok) return owned;
  const job = owned.value;
  const refused = refusedNow(job, change);
  if (refused !== null) return err(refused);
  const { held, ...rest } = change;
  const changed = Object.keys(rest).length > 0 ? newSpec(step, job, rest, actor) : ok(null);
  if (!changed.ok) return changed;
  const by = nameOf(actor);
  if (changed.value !== null) {
    const spec = { ...changed.value, environment: {} };
    step.emit({ kind: 'job_changed', jobId, spec, by });
  }
  if (held === true && !job.held) step.emit({ kind: 'job_held', jobId, by });
  if (held === false && isHeld(job)) step.emit({ kind: 'job_released', jobId, by });
  return ok({ kind: 'changed', count: waitingCount(job) });
}

/** Why the job cannot be changed, or not in this way, as it is now. */
function refusedNow(job: Job, change: JobChange): Refusal | null {
  const text = String(job.id);
  const wrong = (what: string): Refusal => refuse('argument.invalid', { what });
  if (Object.keys(change).length === 0)
    return wrong('there is nothing to change; name at least one field');
  if (job.outcome !== null) {
    return refuse('job.already_done', { job: text, outcome: job.outcome.kind });
  }
  if (job.spec.system !== undefined) {
    return wrong(
      `job ${text} is the program of a maintenance; cancel the maintenance and plan a new one`,
    );
  }
  if (job.spec.foreign !== undefined) {
    return wrong(
      `job ${text} belongs to site ${job.spec.foreign.site}; its owner changes it there`,
    );
  }
  const isMoved = PLACING.some((name) => change[name] !== undefined);
  const isLate = waitingCount(job) === 0 && !isCommentAlone(change);
  if (isLate || (isMoved && job.entry.running > 0)) {
    const hint = isLate ? LATE_HINT : MOVED_HINT;
    return refuse('job.not_pending', { job: text, state: jobStateOf(job) }, hint);
  }
  if (job.spec.pool !== undefined && OF_POOLS.some((name) => change[name] !== undefined)) {
    const what = 'its workers and its name are not changed so';
    return refuse('job.is_pool', { job: text, what }, '`weft pool scale` changes its workers.');
  }
  const { runningMax } = change;
  if (runningMax == null) return null;
  if (job.spec.array === null) return wrong(`job ${text} is not an array: it has one task`);
  if (runningMax >= job.entry.running) return null;
  return wrong(
    `${job.entry.running} tasks of job ${text} run; the limit cannot be less than that now`,
  );
}

/** Comments say nothing of where or when tasks run: a job may say in one what it has found out. */
function isCommentAlone(change: JobChange): boolean {
  return Object.keys(change).every((name) => name === 'comment');
}

const LATE_HINT = 'Once no task of a job waits, only --comment can be changed.';
const MOVED_HINT = `While tasks run, only ${CHANGED_WHILE_RUNNING} can be changed.`;

function isHeld({ held, active }: Job): boolean {
  return held || [...active.values()].some((task) => task.heldBecause !== null);
}

function jobStateOf({ active }: Job): string {
  for (const task of active.values()) if (task.parts.size > 0) return shownState(task);
  return 'pending';
}

/** Held tasks wait too. */
function waitingCount(job: Job): number {
  let count = waitingSize(job);
  for (const task of job.active.values()) if (task.heldBecause !== null || isNext(task)) count += 1;
  return count;
}

function newSpec(
  step: Step,
  job: Job,
  change: Omit<JobChange, 'held'>,
  actor: Actor,
): Result<JobSpec, Refusal> {
  const { state, settings, at } = step;
  const { spec } = job;
  const scheduling = schedulingOf(state, settings);
  const isMoved = PLACING.some((name) => change[name as keyof typeof change] !== undefined);
  const { runningMax, warning, ...wish } = change;
  // What stays is only judged again with what decides where and how long it runs.
  const base: Submission = isMoved
    ? { ...submissionOf(spec), notify: undefined }
    : { program: spec.program };
  const completed = completeSpec(
    {
      ...base,
      beginAt: spec.beginAt ?? undefined,
      name: spec.name,
      ...changingOf(spec),
      ...wish,
      ...(warning === undefined ? {} : { warning: warning ?? undefined }),
    },
    { ...settings, scheduling },
    groundsOf(step, job.owner),
    at,
  );
  if (!completed.ok) return completed;
  const { name, beginAt } = completed.value;
  const kept = changingOf(completed.value);
  const free = { name, beginAt, ...kept, ...arrayWith(spec, runningMax) };
  if (!isMoved) return ok({ ...spec, ...free });
  const { qos: _qos, warning: _warning, ...rest } = spec;
  const moved = { ...rest, ...placingOf(completed.value), ...free };
  const refused =
    unsatisfiable(step, { owner: job.owner, uid: job.uid, spec: moved }, scheduling) ??
    refusedMove(state, scheduling, { before: spec, after: moved, owner: ownerOf(job, actor) });
  if (refused !== null) return err(refused);
  if (spec.reservation === undefined) return ok(moved);
  const reservation = findReservation(step, spec.reservation);
  if (!reservation.ok) return reservation;
  const fits = checkFit(step, reservation.value, moved);
  return fits.ok ? ok(moved) : fits;
}

/** Whose access counts; null: an operator's word stands for that of the owner. */
function ownerOf(job: Job, actor: Actor) {
  return actor.kind === 'user' && actor.name === job.owner ? actor : null;
}

function placingOf(completed: JobSpec): Partial<JobSpec> {
  const { request, walltimeMs, partition, qos, warning } = completed;
  return {
    request,
    walltimeMs,
    partition,
    ...(qos === undefined ? {} : { qos }),
    ...(warning === undefined ? {} : { warning }),
  };
}

function arrayWith({ array }: JobSpec, runningMax: number | null | undefined): Partial<JobSpec> {
  if (array === null || runningMax === undefined) return {};
  const { indices } = array;
  return { array: runningMax === null ? { indices } : { indices, runningMax } };
}
