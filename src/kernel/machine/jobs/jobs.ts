// Jobs as a noun, with the tasks in them.

import { assert, present } from '../../base/assert.ts';
import type { Noun } from '../noun.ts';
import type { State } from '../state.ts';
import type { Step } from '../step.ts';
import { stirNodes } from '../tasks/apply.ts';
import * as control from '../tasks/control.ts';
import { isNext } from '../tasks/shown-state.ts';
import { preemptedFor } from '../tasks/stops.ts';
import {
  countHeld,
  dequeueEntry,
  entryOf,
  isHeldNow,
  jobEvents,
  jobOf,
  noteForeign,
  requeueEntry,
} from './apply.ts';
import { isBlocked, waitingSize } from './behind.ts';
import { decideChange } from './change.ts';
import { dependentsOf, leave } from './dependents.ts';
import type { Job, Task } from './facts.ts';
import { decideFollowing, noteFollowing } from './following.ts';
import { parseIndices } from './indices.ts';
import { decideRetry } from './retry.ts';
import { briefJob, type JobsData, loadJobs, noJobs, saveJobs } from './snapshot.ts';
import { decideSubmit } from './submit.ts';

export const jobs: Noun<'jobs', JobsData> = {
  commands: {
    submit_job: decideSubmit,
    change_job: decideChange,
    retry_job: decideRetry,
    hold_job: (step, { jobId }, actor) => control.decideHold(step, jobId, actor),
    release_job: (step, { jobId }, actor) => control.decideRelease(step, jobId, actor),
  },
  events: {
    ...jobEvents,
    /** Those that wait for no other task any more are the scheduler's. */
    element_met(state, event) {
      const job = jobOf(state, event.jobId);
      dequeueEntry(state, job);
      const indices = parseIndices(event.indices);
      leave(state, job, { on: event.on, indices });
      for (const index of indices) if (!isBlocked(job, index)) job.pending.add(index);
      requeueEntry(state, job);
    },
  },
  facts: noJobs,
  save: saveJobs,
  long: 'jobs',
  brief: briefJob,
  load: loadJobs,
  rebase: rebaseJobs,
  index: indexJobs,
  check: checkJobs,
  due: decideDueJobs,
};

/** The clock was set back: what its begin time had let wait for room waits for that time (H1). */
export function awaitBeginAgain(step: Step): void {
  for (const job of step.state.jobs.values()) {
    const { id: jobId, beginReached, outcome } = job;
    if (!beginReached || (job.spec.beginAt ?? 0) <= step.at || outcome !== null) continue;
    // A change brings no environment: the job has it already.
    const spec = { ...job.spec, environment: {} };
    if (waitingSize(job) > 0) step.emit({ kind: 'job_changed', jobId, spec, by: 'system' });
  }
}

/** What time brings to jobs: begin times are reached, and old ones leave memory. */
function decideDueJobs(step: Step): void {
  const { state, settings } = step;
  for (const jobId of [...state.indexes.beginning]) {
    const beginAt = state.jobs.get(jobId)?.spec.beginAt ?? 0;
    if (beginAt <= step.at) step.emit({ kind: 'begin_reached', jobId });
  }
  decideFollowing(step);
  // A tenth at a time, so that the list is not rebuilt for every job that ends.
  const surplus = state.finished.length - settings.retainedJobsMax;
  if (surplus > settings.retainedJobsMax / 10) {
    step.emit({ kind: 'jobs_retired', jobIds: state.finished.slice(0, surplus) });
  }
}

/** What follows from jobs and their tasks: the queue, limits, who waits for whom. */
function indexJobs(state: State): void {
  for (const [id, { text }] of state.environments) state.indexes.environmentIds.set(text, id);
  for (const job of state.jobs.values()) indexJob(state, job);
}

function indexJob(state: State, job: Job): void {
  const { environments, indexes } = state;
  present(environments.get(job.environmentId), 'the environment').users += 1;
  let running = 0;
  for (const task of job.active.values()) {
    if (task.parts.size > 0 && !isNext(task)) running += 1;
    if (preemptedFor(task) !== null) indexes.preempted.add(task);
  }
  noteForeign(state, job);
  countHeld(state, job, running);
  for (const on of [...job.waitsFor, ...job.behind.keys()]) dependentsOf(state, on).add(job.id);
  if (!job.beginReached && job.outcome === null) indexes.beginning.add(job.id);
  noteFollowing(state, job);
  requeueEntry(state, job);
}

/** Instants of jobs when the head's clock was set; of done jobs nothing is counted any more. */
function rebaseJobs(state: State, byMs: number): void {
  const { scratch } = state;
  // All of them leave before the first is moved: their order is kept by these instants.
  const jobs = [...state.jobs.values()].filter(({ outcome }) => outcome === null);
  for (const job of jobs) dequeueEntry(state, job);
  for (const job of jobs) rebaseJob(state, job, byMs);
  scratch.scheduleDue = true;
  scratch.retryNotBefore = 0;
}

function rebaseJob(state: State, job: Job, byMs: number): void {
  job.submittedAt += byMs;
  if (job.startedAt !== null) job.startedAt += byMs;
  for (const task of job.active.values()) rebaseTask(state, task, byMs);
  job.entry = entryOf(state, job, job.entry.running);
  requeueEntry(state, job);
}

function rebaseTask(state: State, task: Task, byMs: number): void {
  if (task.startedAt !== null) task.startedAt += byMs;
  if (task.waitsSince !== null) task.waitsSince += byMs;
  for (const part of task.parts.values()) {
    if (part.pausedAt !== null) part.pausedAt += byMs;
    if (part.end !== null) part.end = { ...part.end, at: part.end.at + byMs };
  }
  stirNodes(state, task);
}

/** The invariants of jobs and of the queue of them (S9). */
function checkJobs(state: State): void {
  let queued = 0;
  for (const job of state.jobs.values()) {
    checkJob(job);
    const uses = job.spec.request.ofCluster !== undefined && job.entry.running > 0;
    assert(
      state.indexes.usesCluster.has(job) === uses,
      `job ${job.id} holds of the cluster: ${uses}`,
    );
    if (job.queued) queued += 1;
  }
  assert(state.indexes.queue.size === queued, `the queue has ${queued} jobs`);
  for (const id of state.finished) {
    assert(state.jobs.get(id)?.outcome != null, `finished job ${id} has an outcome`);
  }
}

function checkJob(job: Job): void {
  let tasks = waitingSize(job);
  let running = 0;
  for (const set of job.ended.values()) tasks += set.size;
  for (const task of job.active.values()) {
    if (!job.pending.has(task.index)) tasks += 1;
    if (task.parts.size > 0 && !isNext(task)) running += 1;
  }
  assert(
    tasks === job.taskCount,
    `job ${job.id}: ${tasks} of ${job.taskCount} tasks accounted for`,
  );
  assert(running === job.entry.running, `job ${job.id}: ${running} tasks hold resources`);
  const over = waitingSize(job) === 0 && job.active.size === 0;
  assert(over === (job.outcome !== null), `job ${job.id} is done when its tasks are`);
  const startable = !isHeldNow(job) && job.waitsFor.size === 0 && job.beginReached;
  const queued = startable && job.pending.size > 0;
  assert(job.queued === queued, `job ${job.id} is queued exactly when it may start: ${queued}`);
  for (const [on, indices] of job.behind) {
    assert(indices.size > 0, `job ${job.id} waits for tasks of job ${on}`);
  }
  const max = job.entry.runningMax;
  // A pool's workers beyond its target leave by themselves.
  const isKept = max === null || running <= max || job.spec.pool !== undefined;
  assert(isKept, `job ${job.id} keeps its running limit`);
}
