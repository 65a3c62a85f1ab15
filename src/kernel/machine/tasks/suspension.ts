// Applying what happened to tasks that are stopped and go on, by order or to make room.

import type { Part, Task } from '../jobs/facts.ts';
import { takeCpusBack, yieldCpus } from '../nodes/apply.ts';
import type { EventTable } from '../noun.ts';
import type { State } from '../state.ts';
import { epochIdOf, partOf, stirNodes, taskOf, touch } from './apply.ts';
import { isStopped } from './stops.ts';

/** What happens to the state, by the kind of event. */
export const suspensionEvents = {
  part_suspended(state, event) {
    const { task, part } = partOf(state, event);
    part.state = 'suspended';
    part.turnHeard = event.turn;
    // A task that stops itself goes on using up its time.
    if (isStopped(task)) part.pausedAt = event.since;
    if (task.stops.has('scheduler')) yieldCpus(state, event.epochId, event.node);
    state.scratch.touched.push({ node: event.node, epochId: event.epochId });
    if (task.state !== 'running') return;
    for (const other of task.parts.values()) if (other.state === 'started') return;
    task.state = 'suspended';
  },
  part_resumed(state, event, at) {
    const { task, part } = partOf(state, event);
    part.state = 'started';
    part.turnHeard = event.turn;
    state.scratch.touched.push({ node: event.node, epochId: event.epochId });
    if (task.state === 'suspended') task.state = 'running';
    countPause(task, part, event.since, at);
    stirNodes(state, task);
  },
  /** Only orders that are newer count there. */
  part_turns_heard(state, event) {
    const { task } = partOf(state, event);
    task.suspendTurn = Math.max(task.suspendTurn, event.turn);
    touch(state, task);
  },
  /** What was stopped there is gone: nobody waits for it to go on. */
  part_storing(state, event, at) {
    const { task, part } = partOf(state, event);
    part.state = 'storing';
    task.waitsSince = at;
    if (task.state === 'suspended') task.state = 'running';
    countPause(task, part, event.since, at);
    stirNodes(state, task);
  },
  suspend_asked(state, event) {
    const task = taskOf(state, event.place);
    const { stopper } = event;
    const wasStopped = isStopped(task);
    task.stops.set(stopper, event.because ?? event.by);
    if (!wasStopped || isPaused(task)) turn(state, task);
    if (stopper !== 'scheduler') return;
    stirNodes(state, task);
    state.indexes.preempted.add(task);
    // A node that never heard that it went on has nothing to stop, and nothing to tell of it.
    for (const [name, part] of task.parts) {
      if (part.state === 'suspended') yieldCpus(state, epochIdOf(task), name);
    }
  },
  /** Takes an owner's stop away; the task resumes when nobody else keeps it stopped. */
  resume_asked(state, event) {
    const task = taskOf(state, event.place);
    const { stopper, isOthers = false } = event;
    if (isOthers) return turn(state, task);
    if (!task.stops.delete(stopper)) return;
    if (!isStopped(task) || isPaused(task)) turn(state, task);
    if (stopper !== 'scheduler') {
      // There may be room already for one that only waits for it now.
      if (task.stops.has('scheduler')) state.scratch.scheduleDue = true;
      return;
    }
    // It takes back what it gave up: the scheduler has seen that there is room.
    state.indexes.preempted.delete(task);
    for (const name of task.parts.keys()) takeCpusBack(state, epochIdOf(task), name);
  },
} satisfies Partial<EventTable>;

/** Then each of its nodes may have to be told something else. */
function isPaused({ stops }: Task): boolean {
  for (const stopper of stops.keys()) if (stopper.startsWith('pause ')) return true;
  return false;
}

/** Counts a new turn, so that the task's nodes can tell a new order from an old one. */
function turn(state: State, task: Task): void {
  task.suspendTurn += 1;
  touch(state, task);
}

/**
 * Both ends as the node measured them, so that its clock need not agree with the head's. Of an
 * older agent, whose clock was set in between, a pause is no shorter than nothing and no longer
 * than the task has been running.
 */
function countPause(task: Task, part: Part, until: number, at: number): void {
  if (part.pausedAt === null) return;
  const most = at - (task.startedAt ?? at);
  part.pausedMs = Math.min(most, part.pausedMs + Math.max(0, until - part.pausedAt));
  part.pausedAt = null;
  task.pausedMs = Math.max(task.pausedMs, part.pausedMs);
}
