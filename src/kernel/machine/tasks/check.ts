// The invariants of tasks and of what they hold (S9).

import { assert } from '../../base/assert.ts';
import type { Task } from '../jobs/facts.ts';
import type { State } from '../state.ts';
import { epochIdOf } from './apply.ts';
import { preemptedFor } from './stops.ts';

export function checkTasks(state: State): void {
  for (const job of state.jobs.values()) {
    for (const task of job.active.values()) checkTask(state, task);
  }
}

const HOLDS_RESOURCES = new Set(['starting', 'running', 'suspended', 'completing']);

function checkTask(state: State, task: Task): void {
  const holds = HOLDS_RESOURCES.has(task.state);
  assert(
    holds === task.parts.size > 0,
    `${task.id} is ${task.state} with ${task.parts.size} parts`,
  );
  assert(
    state.indexes.preempted.has(task) === (preemptedFor(task) !== null),
    `${task.id} is listed as stopped exactly when it was`,
  );
  for (const [name, part] of task.parts) {
    const holding = state.nodes.get(name)?.holding.get(epochIdOf(task));
    const wanted = part.state !== 'ended';
    assert((holding?.task === task) === wanted, `${task.id} holds ${name}: ${wanted}`);
  }
}
