// Applying what happened to jobs: submission, holds, dependencies, the end, retirement.

import { assert, present } from '../../base/assert.ts';
import type { JobId } from '../../model/ids.ts';
import { NO_USAGE, type Outcome } from '../../model/job.ts';
import { SUBMISSION_KEYS_MAX } from '../../model/limits.ts';
import { DEFAULT_QOS } from '../../model/scheduling.ts';
import { foreignName } from '../../model/site.ts';
import type { QueueEntry } from '../../scheduler/line/queue.ts';
import { sizeOf } from '../../scheduler/line/quota.ts';
import type { Of } from '../events.ts';
import { waitingKey } from '../indexes.ts';
import type { EventTable } from '../noun.ts';
import type { TaskEnds } from '../part.ts';
import type { State } from '../state.ts';
import { dependentsOf, forgetDependent, leaveAll } from './dependents.ts';
import type { Job } from './facts.ts';
import { noteFollowing } from './following.ts';
import { indicesOf, parseIndices } from './indices.ts';
import {
  endedSet,
  NO_BEHIND,
  NO_ENDED,
  NO_JOBS,
  NO_TASKS,
  removeActive,
  shareSpec,
  waitsForAll,
} from './parts.ts';
import { requestOf } from './request-of.ts';

/** What happens to the state, by the kind of event. */
export const jobEvents = {
  environment_added(state, event) {
    const { environmentId: id, variables } = event;
    const text = JSON.stringify(variables);
    state.environments.set(id, { text, variables, users: 0 });
    state.indexes.environmentIds.set(text, id);
    state.nextEnvironmentId = id + 1;
  },
  job_submitted(state, event, at) {
    const environment = present(state.environments.get(event.environmentId), 'the environment');
    environment.users += 1;
    const spec = shareSpec(state, event.spec, environment.variables);
    const behind = behindOf(event);
    const pending = indicesOf(spec.array);
    const { size: taskCount, first: firstIndex = 0, last: lastIndex = 0 } = pending;
    for (const blocked of behind.values()) pending.subtract(blocked);
    const job: Job = {
      id: event.jobId,
      owner: event.owner,
      uid: event.uid,
      spec,
      environmentId: event.environmentId,
      key: event.key,
      submittedAt: at,
      taskCount,
      firstIndex,
      lastIndex,
      entry: entryOf(state, {
        id: event.jobId,
        owner: event.owner,
        uid: event.uid,
        submittedAt: at,
        spec,
        pending,
      }),
      pending,
      queued: false,
      waiting: false,
      active: NO_TASKS,
      ended: NO_ENDED,
      held: spec.held,
      waitsFor: waitsForAll(event.waitsFor),
      behind,
      beginReached: spec.beginAt === null || spec.beginAt <= at,
      startedAt: null,
      endedAt: null,
      outcome: null,
      worst: null,
      usage: NO_USAGE,
      losses: 0,
    };
    state.jobs.set(job.id, job);
    state.scratch.changedJobs.add(job);
    state.nextJobId = job.id + 1;
    for (const hook of state.machine.hooks.onJobAdded) hook(state, job);
    noteForeign(state, job);
    if (event.key !== null) rememberKey(state, `${event.owner} ${event.key}`, job.id);
    for (const on of event.waitsFor) dependentsOf(state, on).add(job.id);
    for (const on of behind.keys()) dependentsOf(state, on).add(job.id);
    if (!job.beginReached) state.indexes.beginning.add(job.id);
    if (job.waitsFor.size > 0) noteFollowing(state, job);
    requeueEntry(state, job);
  },
  dependency_met(state, event) {
    const job = jobOf(state, event.jobId);
    const left = [...job.waitsFor].filter((id) => id !== event.on);
    job.waitsFor = waitsForAll(event.next === undefined ? left : [...left, event.next]);
    if (event.next !== undefined) dependentsOf(state, event.next).add(job.id);
    if (!job.behind.has(event.on)) forgetDependent(state, event.on, job.id);
    noteFollowing(state, job);
    requeueEntry(state, job);
  },
  begin_reached(state, event) {
    const job = jobOf(state, event.jobId);
    job.beginReached = true;
    state.indexes.beginning.delete(job.id);
    requeueEntry(state, job);
  },
  /**
   * Applies a change of a waiting job. What running tasks hold depends on some of it, which changes
   * only while none runs.
   */
  job_changed(state, event, at) {
    const job = jobOf(state, event.jobId);
    dequeueEntry(state, job);
    leaveWaiting(state, job);
    const environment = present(state.environments.get(job.environmentId), 'the environment');
    job.spec = shareSpec(state, event.spec, environment.variables);
    job.entry = entryOf(state, job, job.entry.running);
    const { beginAt } = job.spec;
    job.beginReached = beginAt === null || beginAt <= at;
    if (job.beginReached) state.indexes.beginning.delete(job.id);
    else state.indexes.beginning.add(job.id);
    state.scratch.changedJobs.add(job);
    requeueEntry(state, job);
  },
  job_held(state, event) {
    const job = jobOf(state, event.jobId);
    job.held = true;
    requeueEntry(state, job);
  },
  /** Also releases tasks that the crash limit holds: somebody has looked. */
  job_released(state, event) {
    const job = jobOf(state, event.jobId);
    dequeueEntry(state, job);
    job.held = false;
    for (const task of job.active.values()) {
      if (task.heldBecause === null) continue;
      task.heldBecause = null;
      task.crashes = 0;
      job.pending.add(task.index);
    }
    requeueEntry(state, job);
  },
  pending_ended(state, event, at) {
    const job = jobOf(state, event.jobId);
    dequeueEntry(state, job);
    const indices = parseIndices(event.indices);
    job.pending.subtract(indices);
    leaveAll(state, job, indices);
    for (const index of [...job.active.keys()]) {
      if (indices.has(index)) removeActive(job, index); // A requeued or held one.
    }
    const ended = endedSet(job, event.outcome);
    for (const [from, to] of indices.intervals()) ended.addRange(from, to);
    noteOutcome(job, event.outcome);
    noteEnds(state, job, { indices, outcome: event.outcome, at });
    requeueEntry(state, job);
  },
  job_done(state, event, at) {
    const job = jobOf(state, event.jobId);
    assert(job.active.size === 0 && job.pending.size === 0, `job ${job.id} has no task left`);
    job.outcome = event.outcome;
    job.endedAt = event.endedAt ?? at;
    state.indexes.beginning.delete(job.id);
    state.indexes.following.delete(job.id);
    assert(job.behind.size === 0, `job ${job.id} waits for no other array`);
    for (const on of job.waitsFor) forgetDependent(state, on, job.id);
    job.waitsFor = NO_JOBS;
    for (const hook of state.machine.hooks.onJobDone) hook(state, job);
    state.finished.push(job.id);
    state.scratch.changedJobs.add(job);
  },
  jobs_retired(state, event) {
    const retired = new Set(event.jobIds);
    for (const id of retired) {
      const job = jobOf(state, id);
      state.jobs.delete(id);
      forgetForeign(state, job);
      const environment = present(state.environments.get(job.environmentId), 'the environment');
      environment.users -= 1;
      if (environment.users > 0) continue;
      state.environments.delete(job.environmentId);
      state.indexes.environmentIds.delete(environment.text);
    }
    // They are the oldest, so this is one move of the rest.
    state.finished.splice(
      0,
      state.finished.length,
      ...state.finished.filter((id) => !retired.has(id)),
    );
  },
} satisfies Partial<EventTable>;

export function jobOf(state: State, id: JobId): Job {
  return present(state.jobs.get(id), `job ${id}`);
}

function behindOf({ behind = [] }: Of<'job_submitted'>): Job['behind'] {
  if (behind.length === 0) return NO_BEHIND;
  return new Map(behind.map(({ on, indices }) => [on, parseIndices(indices)] as const));
}

/** Tells the wings of tasks that are over. */
export function noteEnds(state: State, job: Job, ends: TaskEnds): void {
  for (const hook of state.machine.hooks.onTasksEnded) hook(job, ends);
}

/** What the scheduler sees of a job, `running` of whose tasks hold resources. */
export function entryOf(
  state: State,
  { id, owner, uid, submittedAt, spec, pending }: EntryFacts,
  running = 0,
): QueueEntry {
  const { partition, walltimeMs: ownMs, nice, array, batch, staging } = spec;
  const request = requestOf(state, { owner, uid, spec });
  const reservation = spec.reservation ?? null;
  const buildMs = batch?.buildMs;
  const walltimeMs = ownMs === null ? null : ownMs + (buildMs ?? 0);
  const build = buildMs === undefined ? {} : { buildMs };
  const inputs = staging?.inputs;
  return {
    jobId: id,
    owner,
    submittedAt,
    qos: spec.qos ?? DEFAULT_QOS,
    nice,
    shape: state.scratch.shapes.of({ partition, request, walltimeMs, reservation, ...build }),
    pending,
    runningMax: array?.runningMax ?? null,
    running,
    ...(inputs === undefined ? {} : { inputs }),
  };
}

type EntryFacts = Pick<Job, 'id' | 'owner' | 'uid' | 'submittedAt' | 'spec' | 'pending'>;

/**
 * Counts tasks of the job that begin (or, below zero, cease) to hold resources. Who has fewer may
 * be under a limit again, of the array or of the user: others may start, though no node has
 * changed.
 */
export function countHeld(state: State, job: Job, tasks: number): void {
  if (tasks < 0) state.scratch.scheduleDue = true;
  const { entry, owner, spec } = job;
  entry.running += tasks;
  const place = { partition: spec.partition, qos: entry.qos };
  state.indexes.held.count(owner, place, tasks, sizeOf(spec.request));
  if (spec.request.ofCluster === undefined) return;
  if (entry.running > 0) state.indexes.usesCluster.add(job);
  else state.indexes.usesCluster.delete(job);
}

/** Users with jobs that wait, under whichever QoS. */
export function waitingOwners({ indexes: { waiting } }: State): Set<string> {
  return new Set([...waiting.keys()].map((key) => key.slice(key.indexOf(' ') + 1)));
}

/** Before its QoS changes; `requeueEntry` counts it again. */
function leaveWaiting(state: State, job: Job): void {
  if (job.waiting) noteWaiting(state, job, false);
}

function countWaiting(state: State, job: Job): void {
  const waits = job.pending.size > 0 || job.behind.size > 0;
  if (waits !== job.waiting) noteWaiting(state, job, waits);
}

function noteWaiting(state: State, job: Job, waits: boolean): void {
  job.waiting = waits;
  const key = waitingKey(job.owner, job.entry.qos);
  const count = (state.indexes.waiting.get(key) ?? 0) + (waits ? 1 : -1);
  if (count === 0) state.indexes.waiting.delete(key);
  else state.indexes.waiting.set(key, count);
}

/** By its owner or an operator here, or where its owner gave it. */
export function isHeldNow({ held, spec }: Pick<Job, 'held' | 'spec'>): boolean {
  return held || spec.foreign?.isHeld === true;
}

/** By the name of its site's job; a later job of the same name takes its place. */
export function noteForeign(state: State, { id, spec: { foreign } }: Job): void {
  if (foreign !== undefined) state.indexes.foreign.set(foreignName(foreign.site, foreign.job), id);
}

function forgetForeign({ indexes }: State, { id, spec: { foreign } }: Job): void {
  if (foreign === undefined) return;
  const name = foreignName(foreign.site, foreign.job);
  if (indexes.foreign.get(name) === id) indexes.foreign.delete(name);
}

/** Puts the job into the queue, or takes it out, as its state demands. */
export function requeueEntry(state: State, job: Job): void {
  countWaiting(state, job);
  const mayStart = !isHeldNow(job) && job.waitsFor.size === 0 && job.beginReached;
  const wanted = mayStart && job.pending.size > 0;
  if (wanted === job.queued) {
    if (wanted) state.scratch.scheduleDue = true;
    return;
  }
  if (!wanted) return dequeueEntry(state, job);
  state.indexes.queue.add(job.entry);
  job.queued = true;
  state.scratch.scheduleDue = true;
}

/**
 * Out of the queue before `entry` changes; `requeueEntry` puts it back. Those behind it may start
 * when it does not come back.
 */
export function dequeueEntry(state: State, job: Job): void {
  if (!job.queued) return;
  state.indexes.queue.remove(job.entry);
  job.queued = false;
  state.scratch.scheduleDue = true;
}

/** All that waits, of which some may have other nodes now. */
export function askAnew(state: State): void {
  for (const job of state.jobs.values()) {
    dequeueEntry(state, job);
    job.entry = entryOf(state, job, job.entry.running);
    requeueEntry(state, job);
  }
}

export function noteOutcome(job: Job, outcome: Outcome): void {
  if (outcome.kind !== 'completed' && job.worst === null) job.worst = outcome;
}

function rememberKey(state: State, key: string, jobId: JobId): void {
  state.keys.set(key, jobId);
  if (state.keys.size <= SUBMISSION_KEYS_MAX) return;
  const oldest = state.keys.keys().next().value;
  if (oldest !== undefined) state.keys.delete(oldest);
}
