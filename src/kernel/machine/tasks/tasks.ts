// Tasks as a noun. They are saved with their jobs.

import { assert, present } from '../../base/assert.ts';
import type { Of } from '../events.ts';
import { countHeld } from '../jobs/apply.ts';
import type { Task } from '../jobs/facts.ts';
import { givePlace, nodeOf } from '../nodes/apply.ts';
import type { Holding } from '../nodes/facts.ts';
import type { Noun } from '../noun.ts';
import type { State } from '../state.ts';
import { billedOf, epochIdOf, putBack, taskEvents, taskOf } from './apply.ts';
import * as control from './control.ts';
import { decideStart } from './start.ts';
import { preemptedFor } from './stops.ts';
import { suspensionEvents } from './suspension.ts';

export interface TasksData {
  readonly signalSerial: number;
}

export const tasks: Noun<'tasks', TasksData> = {
  commands: {
    start_task: decideStart,
    cancel_task: (step, command, actor) => control.decideCancel(step, command, actor),
    signal_task: control.decideSignal,
    suspend_task: (step, { place }, actor) => control.decideSuspend(step, place, actor),
    resume_task: (step, { place }, actor) => control.decideResume(step, place, actor),
    requeue_task: (step, command, actor) => control.decideRequeue(step, command, actor),
  },
  events: {
    ...suspensionEvents,
    ...taskEvents,
    task_returned(state, event, at) {
      const task = taskOf(state, event.place);
      task.unbegun += 1;
      putBack(state, task, [], at);
    },
    part_placed(state, event, at) {
      const holding = holdingOf(state, event);
      givePlace(state, holding);
      if (!event.begun) state.scratch.touched.push({ node: event.node, epochId: event.epochId });
      // Nobody counts it any more: it holds its place until it is gone.
      const { task } = holding;
      if (task === null) return;
      const { job } = task;
      present(task.parts.get(event.node), `the part on ${event.node}`).isNext = false;
      state.scratch.freed.taken(event.node, job.id);
      task.waitsSince = at;
      countHeld(state, job, 1);
      state.usage.hold(job.owner, billedOf(task), at);
    },
    part_recalled(state, event) {
      holdingOf(state, event).next = 'recalled';
      state.scratch.touched.push({ node: event.node, epochId: event.epochId });
    },
  },
  facts: () => ({ signalSerial: 0 }),
  save: ({ signalSerial }) => ({ signalSerial }),
  load(state, { signalSerial }) {
    state.signalSerial = signalSerial;
  },
  check: checkTasks,
};

/** The invariants of tasks and of what they hold (S9). */
function checkTasks(state: State): void {
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

// Applying what happens to tasks that wait on a node for a place of their job (A35).

function holdingOf(state: State, { epochId, node }: Of<'part_placed' | 'part_recalled'>): Holding {
  return present(nodeOf(state, node).holding.get(epochId), `${epochId} on ${node}`);
}
