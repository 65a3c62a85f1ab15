// What owners ask of their jobs: cancel, hold, release, suspend, resume, requeue, signal.

import { IntervalSet } from '../../base/interval-set.ts';
import { ok, type Result } from '../../base/result.ts';
import type { Actor } from '../../model/actor.ts';
import type { Refusal } from '../../model/errors.ts';
import { formatTaskId, type JobId, type TaskPlace } from '../../model/ids.ts';
import type { SignalTask } from '../commands.ts';
import { type Job, placeOf, type Task } from '../state.ts';
import type { Answer, Step } from '../step.ts';
import { nameOf, ownJob } from './authority.ts';
import { cancelledBy, endPending } from './ending.ts';

/** Tasks that wait end at once; tasks that hold resources end when their processes have. */
export function decideCancel(step: Step, place: TaskPlace, actor: Actor): Answer {
  const found = targets(step, place, actor);
  if (!found.ok) return found;
  const { job, waiting, holding } = found.value;
  const by = nameOf(actor);
  for (const task of holding) {
    if (task.ending?.kind === 'cancel') continue;
    step.emit({ kind: 'end_asked', place: placeOf(job, task.index), why: 'cancel', by });
  }
  if (waiting.size > 0) endPending(step, job, waiting, cancelledBy(by));
  return ok({ kind: 'changed', count: waiting.size + holding.length });
}

export function decideSignal(step: Step, command: SignalTask, actor: Actor): Answer {
  const { place, signal } = command;
  if (!Number.isInteger(signal) || signal < 1 || signal > 64) {
    return step.refuse('argument.invalid', { what: `${signal} is not a signal number (1-64)` });
  }
  const found = targets(step, place, actor);
  if (!found.ok) return found;
  const { job, holding } = found.value;
  const running = holding.filter((task) => task.state === 'running' || task.state === 'suspended');
  if (running.length === 0) return notRunning(step, found.value, place);
  for (const task of running) {
    const by = nameOf(actor);
    step.emit({ kind: 'signal_asked', place: placeOf(job, task.index), signal, by });
  }
  return ok({ kind: 'changed', count: running.length });
}

/** Only what still waits can be held; running tasks go on. */
export function decideHold(step: Step, jobId: JobId, actor: Actor): Answer {
  const found = targets(step, { jobId, index: null }, actor);
  if (!found.ok) return found;
  const { job, waiting, holding } = found.value;
  if (waiting.size === 0) {
    const state = holding[0]?.state ?? 'running';
    return step.refuse('job.not_pending', { job: String(jobId), state });
  }
  if (!job.held) step.emit({ kind: 'job_held', jobId, by: nameOf(actor) });
  return ok({ kind: 'changed', count: waiting.size });
}

export function decideRelease(step: Step, jobId: JobId, actor: Actor): Answer {
  const found = targets(step, { jobId, index: null }, actor);
  if (!found.ok) return found;
  const { job } = found.value;
  const heldTasks = [...job.active.values()].filter((task) => task.heldBecause !== null);
  if (!job.held && heldTasks.length === 0) {
    return step.refuse('job.not_held', { job: String(jobId) });
  }
  step.emit({ kind: 'job_released', jobId, by: nameOf(actor) });
  return ok({ kind: 'changed', count: Math.max(heldTasks.length, job.entry.pending.size) });
}

export function decideSuspend(step: Step, place: TaskPlace, actor: Actor): Answer {
  const found = targets(step, place, actor);
  if (!found.ok) return found;
  const { job, holding } = found.value;
  const running = holding.filter((task) => task.state === 'running' || task.state === 'starting');
  const fresh = running.filter((task) => !task.suspendWanted);
  const suspended = holding.some((task) => task.state === 'suspended');
  if (running.length === 0 && !suspended) return notRunning(step, found.value, place);
  for (const task of fresh) {
    step.emit({ kind: 'suspend_asked', place: placeOf(job, task.index), by: nameOf(actor) });
  }
  return ok({ kind: 'changed', count: fresh.length });
}

export function decideResume(step: Step, place: TaskPlace, actor: Actor): Answer {
  const found = targets(step, place, actor);
  if (!found.ok) return found;
  const { job, holding } = found.value;
  const suspended = holding.filter((task) => task.suspendWanted && task.preempted === null);
  if (suspended.length === 0) {
    const stopped = holding.find((task) => task.preempted !== null)?.preempted;
    const hint = stopped == null ? undefined : `It was ${stopped}; it goes on when there is room.`;
    const text = formatTaskId(place.jobId, place.index);
    return step.refuse('job.not_suspended', { job: text }, hint);
  }
  for (const task of suspended) {
    step.emit({ kind: 'resume_asked', place: placeOf(job, task.index), by: nameOf(actor) });
  }
  return ok({ kind: 'changed', count: suspended.length });
}

export function decideRequeue(step: Step, place: TaskPlace, actor: Actor): Answer {
  const found = targets(step, place, actor);
  if (!found.ok) return found;
  const { job, holding } = found.value;
  const running = holding.filter((task) => task.ending === null);
  if (running.length === 0) return notRunning(step, found.value, place);
  for (const task of running) {
    const by = nameOf(actor);
    step.emit({ kind: 'end_asked', place: placeOf(job, task.index), why: 'requeue', by });
  }
  return ok({ kind: 'changed', count: running.length });
}

interface Targets {
  readonly job: Job;
  /** Indices that wait and hold nothing. */
  readonly waiting: IntervalSet;
  readonly holding: readonly Task[];
}

/** The tasks meant by `42` or `42[7]`; refused when there is none left to act on. */
function targets(step: Step, place: TaskPlace, actor: Actor): Result<Targets, Refusal> {
  const owned = ownJob(step, place.jobId, actor);
  if (!owned.ok) return owned;
  const job = owned.value;
  const text = formatTaskId(place.jobId, place.index);
  const waiting = IntervalSet.of(job.entry.pending.intervals());
  for (const task of job.active.values()) if (task.heldBecause !== null) waiting.add(task.index);
  let holding = [...job.active.values()].filter((task) => task.parts.size > 0);
  if (place.index === null) {
    if (job.outcome === null) return ok({ job, waiting, holding });
    return step.refuse('job.already_done', { job: text, outcome: job.outcome.kind });
  }
  const { index } = place;
  const ended = [...job.ended].find(([, indices]) => indices.has(index));
  if (ended !== undefined) return step.refuse('job.already_done', { job: text, outcome: ended[0] });
  holding = holding.filter((task) => task.index === index);
  const waits = waiting.has(index);
  if (job.spec.array === null || (!waits && holding.length === 0)) {
    return step.refuse('job.not_found', { job: text });
  }
  return ok({ job, waiting: IntervalSet.of(waits ? [[index, index]] : []), holding });
}

function notRunning(step: Step, { holding }: Targets, place: TaskPlace): Answer {
  const state = holding[0]?.state ?? 'pending';
  return step.refuse('job.not_running', { job: formatTaskId(place.jobId, place.index), state });
}
