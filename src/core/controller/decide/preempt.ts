// Making room for what is more urgent: tasks told to leave or to stop, and stopped ones that go on.

import { present } from '../../base/assert.ts';
import type { NodeName } from '../../model/ids.ts';
import type { Taker } from '../../scheduler/board.ts';
import type { Preemption } from '../../scheduler/preempt.ts';
import type { Stopped } from '../../scheduler/resume.ts';
import { jobOf } from '../apply/jobs.ts';
import { isInMaintenance } from '../in-maintenance.ts';
import { mayGetWork } from '../node-view.ts';
import { placeOf, type State, type Task } from '../state.ts';
import type { Step } from '../step.ts';
import { timeLeft } from '../time-limit.ts';

/** Room now is enough. */
const MOMENT_MS = 1;
/** In the journal, instead of a user's name. */
const BY = 'scheduler';

export function preempt(step: Step, { jobId, index, mode, for: taker }: Preemption): void {
  const place = placeOf(jobOf(step.state, jobId), index);
  const because = `preempted by ${taker.jobId} of ${jobOf(step.state, taker.jobId).owner}`;
  if (mode === 'suspend') step.emit({ kind: 'suspend_asked', place, by: BY, because });
  else step.emit({ kind: 'end_asked', place, why: mode, by: BY, because });
}

export function resume(step: Step, { jobId, index }: Taker): void {
  step.emit({ kind: 'resume_asked', place: placeOf(jobOf(step.state, jobId), index), by: BY });
}

/**
 * Where nothing new may start, as on a drained node, nobody but the stopped tasks wants the cpus.
 */
export function resumeApart(step: Step): void {
  for (const one of stoppedTasks(step.state, step.at)) {
    const nodes = one.nodes.map((name) => present(step.state.nodes.get(name), `node ${name}`));
    if (nodes.every(mayGetWork)) continue;
    if (nodes.every(({ free }) => free.cpuCount >= one.cpuCount)) resume(step, one);
  }
}

/** Those that wait to go on, but for those on nodes in maintenance: they wait for its end. */
export function stoppedTasks(state: State, at: number): Stopped[] {
  return [...state.preempted]
    .filter((task) => task.ending === null && !isInMaintenance(state, task))
    .map((task) => stoppedOf(state, task, at));
}

/** As the scheduler sees it. */
export function stoppedOf(state: State, task: Task, at: number): Stopped {
  const { job, index, parts } = task;
  const { spec, entry } = job;
  const held = [...parts.values()].filter((part) => part.state !== 'ended');
  const nodes = held.map((part) => part.share.node);
  return {
    jobId: job.id,
    index,
    partition: spec.partition,
    qos: entry.qos,
    nodes,
    cpuCount: spec.request.perNode.cpuCount,
    roomForMs: timeLeft(task, at) ?? (recursOn(state, nodes) ? MOMENT_MS : null),
    reservation: spec.reservation ?? null,
  };
}

/**
 * A task without time limit would never have room before a reservation that comes again and again.
 * Whoever made that with such a task on its node did so with force: it runs on.
 */
function recursOn({ reservations }: State, nodes: readonly NodeName[]): boolean {
  const recurring = [...reservations.values()].filter(({ recurrence }) => recurrence !== null);
  return recurring.some(({ slots }) =>
    slots.some(({ shares }) => nodes.some((name) => Object.hasOwn(shares, name))),
  );
}
