// How epochs, tasks and jobs end, and what follows from a job's end for those that wait for it.

import { present } from '../../base/assert.ts';
import { IntervalSet } from '../../base/interval-set.ts';
import { plural } from '../../base/plural.ts';
import type { JobId, NodeName } from '../../model/ids.ts';
import type { Dependency, Outcome } from '../../model/job.ts';
import { waitingOf } from '../jobs/behind.ts';
import { type EndedTasks, followElements } from '../jobs/elements.ts';
import type { Job, Task } from '../jobs/facts.ts';
import { dependencyMet, isFollowed, meets } from '../jobs/following.ts';
import { placeOf } from '../jobs/place.ts';
import type { Step } from '../step.ts';
import { lastEndOf } from './apply.ts';
import { isNext } from './shown-state.ts';
import {
  cancelOutcome,
  completed,
  crashOf,
  endedProgram,
  hasSucceeded,
  lostVerdict,
  outcomeOfPart,
  outcomeOfProgram,
  type Verdict,
  verdict,
} from './verdict.ts';

/** After a part has ended: ends its siblings when needed, and the task with its last part. */
export function settleTask(step: Step, task: Task): void {
  const parts = [...task.parts.values()];
  if (parts.every((part) => part.state === 'ended')) {
    carryOut(step, task, verdict(step, task, parts), []);
    return;
  }
  if (task.ending !== null) return;
  const bad = parts.find((part) => part.end !== null && part.end.cause !== 'exited');
  const deciding = bad ?? endedProgram(task);
  if (deciding === undefined) return; // The other nodes' processes go on to their own end.
  step.emit({
    kind: 'end_asked',
    place: placeOf(task.job, task.index),
    why: 'sibling',
    by: 'system',
    outcome: deciding === bad ? outcomeOfPart(bad) : outcomeOfProgram(deciding),
  });
}

/** The epoch is given up while it may still run on silent nodes. */
export function abandonEpoch(step: Step, task: Task, because: string): void {
  const abandoned = openOn(task);
  const outcome: Outcome = { kind: 'node_fail', detail: because };
  const wanted: Verdict = task.job.spec.requeue
    ? { kind: 'requeue', outcome, counts: crashOf(step, task) }
    : { kind: 'done', outcome };
  const program = endedProgram(task);
  if (program !== undefined && hasSucceeded(program)) {
    return carryOut(step, task, { kind: 'done', outcome: completed([program]) }, abandoned);
  }
  const cancelled: Verdict | null =
    task.ending?.kind === 'cancel' ? { kind: 'done', outcome: cancelOutcome(task.ending) } : null;
  carryOut(step, task, cancelled ?? lostVerdict(task) ?? wanted, abandoned);
}

/** The epoch was a mistake of our books: the task waits again, whatever its job says of that. */
export function takeBackEpoch(step: Step, task: Task, because: string): void {
  const outcome: Outcome = { kind: 'node_fail', detail: because };
  carryOut(step, task, { kind: 'requeue', outcome, counts: 'neither' }, openOn(task));
}

function openOn({ parts }: Task): NodeName[] {
  const open = [...parts.values()].filter((part) => part.state !== 'ended');
  return open.map((part) => part.share.node);
}

function carryOut(step: Step, task: Task, verdict: Verdict, abandoned: readonly NodeName[]): void {
  const { job, index } = task;
  const place = placeOf(job, index);
  if (verdict.kind === 'done') {
    const endedAt = lastEndOf(task, step.at);
    step.emit({ kind: 'task_done', place, outcome: verdict.outcome, abandoned });
    const indices = IntervalSet.of([[index, index]]);
    const late = job.spec.array === null ? { endedAt } : {};
    followEnds(step, { job, indices, outcome: verdict.outcome, ...late });
    return;
  }
  if (isNext(task) && abandoned.length === 0 && !isLost(task)) {
    step.emit({ kind: 'task_returned', place });
    return;
  }
  const { outcome, counts } = verdict;
  const isHeld = task.ending?.kind === 'requeue' && task.ending.holds === true;
  const because = outcome.detail ?? outcome.kind;
  step.emit({ kind: 'task_requeued', place, because, outcome, counts, abandoned });
  if (isHeld) return step.emit({ kind: 'task_held', place, because });
  if (task.crashes < step.settings.crashLimit) return;
  const starts = plural(task.crashes, 'start');
  const words = `held after ${starts} that took a node down or failed to launch; last: ${because}`;
  step.emit({ kind: 'task_held', place, because: words });
}

/** Nobody has said that it did not begin: then what it wrote may come yet. */
function isLost({ parts }: Task): boolean {
  return [...parts.values()].some(({ end }) => end?.cause === 'lost');
}

/** Ends tasks that wait and hold nothing; then the job, if those were its last. */
export function endPending(step: Step, job: Job, indices: IntervalSet, outcome: Outcome): void {
  // A copy: what waits is taken away from the very set that may have been handed in.
  const ended = IntervalSet.of(indices.intervals());
  step.emit({ kind: 'pending_ended', jobId: job.id, indices: indices.toString(), outcome });
  followEnds(step, { job, indices: ended, outcome });
}

/**
 * What the end of tasks means to their job and to all that wait. A loop, not a recursion: a chain
 * of dependencies may be longer than the call stack.
 */
function followEnds(step: Step, first: EndedTasks): void {
  const ends = [first];
  for (const ended of ends) {
    ends.push(...finishJob(step, ended));
    ends.push(...followElements(step, ended));
  }
}

/** Ends the job with its last task; gives the tasks that ended because they waited for it. */
function finishJob(step: Step, { job, endedAt = step.at }: EndedTasks): EndedTasks[] {
  const isOpen = job.active.size > 0 || job.pending.size > 0 || job.behind.size > 0;
  if (isOpen || job.outcome !== null) return [];
  const outcome = job.worst ?? lastOutcome(step);
  const dependents = [...(step.state.indexes.dependents.get(job.id) ?? [])];
  const late = endedAt < step.at ? { endedAt } : {};
  step.emit({ kind: 'job_done', jobId: job.id, outcome, ...late });
  for (const hook of step.state.machine.hooks.afterJob) hook(step, job);
  return dependents.map((id) => followUp(step, id, job)).filter((broken) => broken !== null);
}

/** All tasks completed: the job says what its last task said. */
function lastOutcome(step: Step): Outcome {
  const last = step.events.at(-1);
  return last?.kind === 'task_done' ? last.outcome : { kind: 'completed' };
}

/** The tasks that waited, when their job can no longer start and they have ended. */
function followUp(step: Step, id: JobId, on: Job): EndedTasks | null {
  const job = step.state.jobs.get(id);
  if (job === undefined || job.outcome !== null || !job.waitsFor.has(on.id)) return null;
  const conditions = job.spec.dependencies.filter(({ jobId, condition }) => {
    return jobId === on.id && condition !== 'each';
  });
  const kind = present(on.outcome, `the outcome of job ${on.id}`).kind;
  const broken = conditions.find((dependency) => !meets(dependency, kind));
  if (broken === undefined) {
    if (!isFollowed(step, job, on.id)) return null; // Time has to pass since its start.
    step.emit(dependencyMet(step, job, on.id));
    return null;
  }
  const indices = waitingOf(job);
  const outcome = brokenDependency(broken, kind);
  if (indices.size === 0) return null; // Ended in this very step, by another broken dependency.
  step.emit({ kind: 'pending_ended', jobId: id, indices: indices.toString(), outcome });
  return { job, indices, outcome };
}

export function brokenDependency(dependency: Dependency, kind: Outcome['kind']): Outcome {
  const wanted = dependency.condition === 'ok' ? 'to complete' : 'to fail';
  const detail = `waited for job ${dependency.jobId} ${wanted}; it ended as ${kind}`;
  return { kind: 'cancelled', detail };
}
