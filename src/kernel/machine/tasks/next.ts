// Applying what happens to tasks that wait on a node for a place of their job (A35).

import { present } from '../../base/assert.ts';
import type { Of } from '../events.ts';
import { countHeld } from '../jobs/apply.ts';
import { givePlace, nodeOf } from '../nodes/apply.ts';
import type { Holding } from '../nodes/facts.ts';
import type { State } from '../state.ts';
import { billedOf, putBack, taskOf } from './apply.ts';

export function applyPartPlaced(state: State, event: Of<'part_placed'>, at: number): void {
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
}

export function applyPartRecalled(state: State, event: Of<'part_recalled'>): void {
  holdingOf(state, event).next = 'recalled';
  state.scratch.touched.push({ node: event.node, epochId: event.epochId });
}

export function applyTaskReturned(state: State, event: Of<'task_returned'>, at: number): void {
  const task = taskOf(state, event.place);
  task.unbegun += 1;
  putBack(state, task, [], at);
}

function holdingOf(state: State, { epochId, node }: Of<'part_placed' | 'part_recalled'>): Holding {
  return present(nodeOf(state, node).holding.get(epochId), `${epochId} on ${node}`);
}
