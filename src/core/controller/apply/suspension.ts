// Applying what happened to tasks that are stopped and go on, by order or to make room.

import type { Of } from '../events.ts';
import type { Part, State, Task } from '../state.ts';
import { setYielded } from './nodes.ts';
import { epochIdOf, forgetPreemption, partOf, stirNodes, taskOf, touch } from './tasks.ts';

export function applySuspendAsked(state: State, event: Of<'suspend_asked'>): void {
  const task = taskOf(state, event.place);
  task.suspendWanted = true;
  task.suspendTurn += 1;
  touch(state, task);
  if (event.because === undefined) return;
  stirNodes(state, task);
  task.preempted = event.because;
  state.preempted.add(task);
  // A node that never heard that it went on has nothing to stop, and nothing to tell of it.
  for (const [name, part] of task.parts) {
    if (part.state === 'suspended') setYielded(state, epochIdOf(task), name, true);
  }
}

/** Takes back what it gave up: whoever asks has seen that there is room. */
export function applyResumeAsked(state: State, event: Of<'resume_asked'>): void {
  const task = taskOf(state, event.place);
  task.suspendWanted = false;
  task.suspendTurn += 1;
  touch(state, task);
  if (task.preempted === null) return;
  forgetPreemption(state, task);
  for (const name of task.parts.keys()) setYielded(state, epochIdOf(task), name, false);
}

export function applyPartSuspended(state: State, event: Of<'part_suspended'>, at: number): void {
  const { task, part } = partOf(state, event);
  part.state = 'suspended';
  part.turnHeard = event.turn ?? part.turnHeard;
  // A task that stops itself goes on using up its time.
  if (task.suspendWanted) part.pausedAt = event.since ?? at;
  if (task.preempted !== null) setYielded(state, event.epochId, event.node, true);
  state.touched.push({ node: event.node, epochId: event.epochId });
  if (task.state !== 'running') return;
  for (const other of task.parts.values()) if (other.state === 'started') return;
  task.state = 'suspended';
}

export function applyPartResumed(state: State, event: Of<'part_resumed'>, at: number): void {
  const { task, part } = partOf(state, event);
  part.state = 'started';
  part.turnHeard = event.turn ?? part.turnHeard;
  state.touched.push({ node: event.node, epochId: event.epochId });
  if (task.state === 'suspended') task.state = 'running';
  countPause(task, part, event.since ?? at, at);
  stirNodes(state, task);
}

/**
 * Both ends by the node's own clock, so that it need not agree with the head's. Were it set in
 * between: a pause is no shorter than nothing and no longer than the task has been running.
 */
function countPause(task: Task, part: Part, until: number, at: number): void {
  if (part.pausedAt === null) return;
  const most = at - (task.startedAt ?? at);
  part.pausedMs = Math.min(most, part.pausedMs + Math.max(0, until - part.pausedAt));
  part.pausedAt = null;
  task.pausedMs = Math.max(task.pausedMs, part.pausedMs);
}
