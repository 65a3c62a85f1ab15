// How epochs, tasks and jobs end: the verdict over all parts, requeueing, and what follows from a
// job's end for those that wait for it.

import { present } from '../../base/assert.ts';
import { IntervalSet } from '../../base/interval-set.ts';
import { plural } from '../../base/plural.ts';
import { formatSize } from '../../base/size.ts';
import type { JobId, NodeName } from '../../model/ids.ts';
import type { Dependency, ExitStatus, Outcome } from '../../model/job.ts';
import { waitingOf } from '../jobs/behind.ts';
import { type EndedTasks, followElements } from '../jobs/elements.ts';
import type { Job, Part, PartEnd, Task } from '../jobs/facts.ts';
import { hasRestartedItsNode, isInMaintenance } from '../maintenance/presence.ts';
import type { Step } from '../step.ts';
import { endOf } from './apply.ts';
import { placeOf } from './place.ts';

/** What becomes of a task whose epoch is over. */
type Verdict =
  | { readonly kind: 'done'; readonly outcome: Outcome }
  | {
      readonly kind: 'requeue';
      readonly outcome: Outcome;
      readonly counts: 'failure' | 'crash' | 'neither';
    };

/**
 * After a part of the task has ended: ends its siblings when needed, and the task with its last
 * part.
 */
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

/** The first part of an MPI task, once its program has ended by itself: the others only serve it. */
function endedProgram({ job, parts }: Task): Part | undefined {
  if (job.spec.mpi === undefined) return undefined;
  const first = [...parts.values()].find((part) => part.nodeRank === 0);
  return first?.end?.cause === 'exited' ? first : undefined;
}

function outcomeOfProgram(part: Part): Outcome {
  return hasSucceeded(part) ? completed([part]) : outcomeOfPart(part);
}

function hasSucceeded({ end }: Part): boolean {
  return end !== null && !isBad(end);
}

/** The epoch is given up while it may still run on silent nodes. */
export function abandonEpoch(step: Step, task: Task, because: string): void {
  const abandoned = [...task.parts.values()]
    .filter((part) => part.state !== 'ended')
    .map((part) => part.share.node);
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
  carryOut(step, task, cancelled ?? wanted, abandoned);
}

export function cancelledBy(by: string): Outcome {
  return { kind: 'cancelled', detail: `cancelled by ${by}` };
}

function cancelOutcome({ by, because }: { by: string; because?: string }): Outcome {
  return because === undefined ? cancelledBy(by) : { kind: 'cancelled', detail: because };
}

function carryOut(step: Step, task: Task, verdict: Verdict, abandoned: readonly NodeName[]): void {
  const { job, index } = task;
  const place = placeOf(job, index);
  if (verdict.kind === 'done') {
    const endedAt = endOf(task, step.at);
    step.emit({ kind: 'task_done', place, outcome: verdict.outcome, abandoned });
    const indices = IntervalSet.of([[index, index]]);
    const late = job.spec.array === null ? { endedAt } : {};
    followEnds(step, { job, indices, outcome: verdict.outcome, ...late });
    return;
  }
  const { outcome, counts } = verdict;
  const because = outcome.detail ?? outcome.kind;
  step.emit({ kind: 'task_requeued', place, because, outcome, counts, abandoned });
  if (task.crashes < step.settings.crashLimit) return;
  const starts = plural(task.crashes, 'start');
  const words = `held after ${starts} that took a node down or failed to launch; last: ${because}`;
  step.emit({ kind: 'task_held', place, because: words });
}

function verdict(step: Step, task: Task, parts: readonly Part[]): Verdict {
  const { ending, job } = task;
  const program = endedProgram(task);
  // Whatever became of the servers after a program that has done its work: it has done it.
  const worst = program !== undefined && hasSucceeded(program) ? undefined : worstPart(parts);
  if (worst === undefined) return { kind: 'done', outcome: completed(parts) };
  if (ending?.kind === 'cancel') {
    return { kind: 'done', outcome: { ...cancelOutcome(ending), ...exitOf(worst) } };
  }
  if (ending?.kind === 'requeue') {
    const asked: Outcome = {
      kind: 'cancelled',
      detail: ending.because ?? `requeued by ${ending.by}`,
    };
    return { kind: 'requeue', outcome: asked, counts: 'neither' };
  }
  const end = present(worst.end, 'the end of the worst part');
  const outcome = outcomeOfPart(worst);
  if (end.cause === 'exited') {
    if (task.failures >= job.spec.retriesMax) return { kind: 'done', outcome };
    return { kind: 'requeue', outcome, counts: 'failure' };
  }
  if (end.cause === 'lost' && hasRestartedItsNode(step.state, task)) {
    return { kind: 'done', outcome: { kind: 'completed', detail: 'restarted its node' } };
  }
  // Without requeue a second start is only harmless when nothing of the first ever ran.
  const mayStartAgain = job.spec.requeue || parts.every((part) => !hasRun(part));
  if (end.cause === 'never_started' && mayStartAgain) {
    return { kind: 'requeue', outcome, counts: 'neither' };
  }
  // A program of the cluster itself that cannot start is for an operator to look at.
  const isOwn = job.spec.system !== undefined;
  if (end.cause === 'launch_failed' && end.nodeFault && mayStartAgain && !isOwn) {
    return { kind: 'requeue', outcome, counts: 'crash' };
  }
  if (outcome.kind === 'node_fail' && job.spec.requeue) {
    return {
      kind: 'requeue',
      outcome,
      counts: end.cause === 'lease_expired' ? 'neither' : crashOf(step, task),
    };
  }
  return { kind: 'done', outcome };
}

/** A node that goes down in its maintenance was not taken down by the task. */
function crashOf({ state }: Step, task: Task): 'crash' | 'neither' {
  return isInMaintenance(state, task) ? 'neither' : 'crash';
}

const GRAVITY: readonly PartEnd['cause'][] = [
  'out_of_memory',
  'timeout',
  'launch_failed',
  'lost',
  'lease_expired',
  'exited',
  'never_started',
  // By us, as a sibling's end asked for it: whatever else there is says why.
  'ended',
];

/** The part that decides how the task ended; none when all processes of all parts exited 0. */
function worstPart(parts: readonly Part[]): Part | undefined {
  return parts
    .filter((part) => part.end !== null && isBad(part.end))
    .sort((a, b) => gravity(a) - gravity(b) || a.nodeRank - b.nodeRank)[0];
}

/**
 * Exit of the process that decided, in its own words; a cancelled one may well have ended by
 * itself.
 */
function exitOf(part: Part): Pick<Outcome, 'exit' | 'process'> {
  const { processes } = present(part.end, 'the end of the part');
  const process = processes.find((one) => one.exit.code !== 0) ?? processes[0];
  if (process === undefined) return {};
  return { exit: process.exit, process: { node: part.share.node, rank: process.rank } };
}

function hasRun(part: Part): boolean {
  const end = present(part.end, 'the end of the part');
  if (end.cause === 'never_started') return false;
  return end.cause !== 'launch_failed' || end.processes.length > 0;
}

function gravity(part: Part): number {
  return GRAVITY.indexOf(present(part.end, 'the end of the part').cause);
}

function isBad(end: PartEnd): boolean {
  return end.cause !== 'exited' || end.processes.some((process) => process.exit.code !== 0);
}

function completed(parts: readonly Part[]): Outcome {
  const first = present(parts[0], 'a part');
  const process = { node: first.share.node, rank: 0 };
  return { kind: 'completed', exit: { code: 0 }, process };
}

/** How the task ends if this part decides. */
function outcomeOfPart(part: Part): Outcome {
  const end = present(part.end, 'the end of the part');
  const { node } = part.share;
  const exit = end.processes.some((one) => one.exit.code !== 0) ? exitOf(part) : {};
  const said = end.detail === undefined ? {} : { detail: end.detail };
  switch (end.cause) {
    case 'exited':
      return { kind: 'failed', ...exit, detail: `${exitWords(exit.exit)} on ${node}` };
    case 'timeout':
      return { kind: 'timeout', ...exit, detail: 'reached its time limit' };
    case 'out_of_memory':
      return { kind: 'out_of_memory', ...exit, detail: outOfMemoryWords(part), ...said };
    case 'launch_failed':
      return { kind: 'launch_failed', ...exit, detail: `could not start on ${node}`, ...said };
    case 'lease_expired':
      return {
        kind: 'node_fail',
        ...exit,
        detail: `${node} did not reach the head within its lease`,
      };
    case 'never_started':
      return { kind: 'node_fail', detail: `did not start on ${node}`, ...said };
    default:
      return { kind: 'node_fail', ...exit, detail: `its processes on ${node} were lost`, ...said };
  }
}

function outOfMemoryWords({ share: { node, resources } }: Part): string {
  if (resources.memoryBytes === 0) return `${node} ran out of memory; ask for some with --memory`;
  const limit = formatSize(resources.memoryBytes);
  return `exceeded its limit of ${limit} on ${node}; ask for more with --memory`;
}

function exitWords(exit: ExitStatus | undefined): string {
  if (exit?.signal !== undefined) return `ended by signal ${exit.signal}`;
  return `exited with code ${exit?.code ?? 'unknown'}`;
}

/** Ends tasks that wait and hold nothing; then the job, if those were its last. */
export function endPending(step: Step, job: Job, indices: IntervalSet, outcome: Outcome): void {
  // A copy: what waits is taken away from the very set that may have been handed in.
  const ended = IntervalSet.of(indices.intervals());
  step.emit({ kind: 'pending_ended', jobId: job.id, indices: indices.toString(), outcome });
  followEnds(step, { job, indices: ended, outcome });
}

/**
 * What the end of tasks means to their job and to all that wait. A loop, not a recursion: a chain of
 * dependencies may be longer than the call stack.
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
    step.emit({ kind: 'dependency_met', jobId: id, on: on.id });
    return null;
  }
  const indices = waitingOf(job);
  const outcome = brokenDependency(broken, kind);
  if (indices.size === 0) return null; // Ended in this very step, by another broken dependency.
  step.emit({ kind: 'pending_ended', jobId: id, indices: indices.toString(), outcome });
  return { job, indices, outcome };
}

export function meets(dependency: Dependency, kind: Outcome['kind']): boolean {
  const { condition } = dependency;
  if (condition === 'any') return true;
  return (condition === 'ok' || condition === 'each') === (kind === 'completed');
}

export function brokenDependency(dependency: Dependency, kind: Outcome['kind']): Outcome {
  const wanted = dependency.condition === 'ok' ? 'to complete' : 'to fail';
  const detail = `waited for job ${dependency.jobId} ${wanted}; it ended as ${kind}`;
  return { kind: 'cancelled', detail };
}
