// What a node's agent says of its pause, and what that means for the tasks that are on the node.

import { isSame } from '../../base/same.ts';
import type { NodeHello } from '../../model/node.ts';
import type { PauseReport } from '../../model/orders.ts';
import { type Pause, pauseWords } from '../../model/pause.ts';
import type { Task } from '../jobs/facts.ts';
import { placeOf } from '../jobs/place.ts';
import type { Node } from '../nodes/facts.ts';
import { siteOf } from '../nodes/members.ts';
import type { Step } from '../step.ts';
import { forgetPauseRequest } from './asked.ts';
import { pauseStopper } from './facts.ts';

/** A report that was handled already changes nothing (S7). */
export function decidePauseReport(step: Step, node: Node, report: PauseReport): void {
  if (report.turn <= node.pausing.turn) return;
  follow(step, node, report, report.why ?? 'it is over');
}

/**
 * After a hello: what the head has forgotten, and what the agent has. Reports that are still to
 * come are waited for, as they tell what was between.
 */
export function decidePauseAtHello(step: Step, node: Node, hello: NodeHello): void {
  forgetPauseRequest(step, node);
  const { now, turn } = node.pausing;
  const said = hello.pause;
  if (said === undefined || (said.turn === turn && isSame(said.pause, now))) return;
  follow(step, node, { ...said, at: step.at, orderHeard: 0 }, `${node.name} has no pause any more`);
}

function follow(
  step: Step,
  { name: node, holding }: Node,
  { turn, orderHeard, pause, at }: Pick<PauseReport, 'turn' | 'orderHeard' | 'pause' | 'at'>,
  why: string,
): void {
  const told = { node, turn, orderHeard };
  if (pause !== null) {
    step.emit({ kind: 'node_paused', ...told, pause });
    for (const task of tasksOf([{ holding }])) stopTask(step, node, task, pause);
  } else {
    step.emit({ kind: 'node_unpaused', ...told, why, since: at });
    wakeTasks(step, node);
  }
}

/** The agent has stopped its part already; the task's other nodes stop theirs. */
function stopTask(step: Step, node: string, task: Task, pause: Pause): void {
  if (task.ending !== null) return;
  const place = placeOf(task.job, task.index);
  const by = pause.kind === 'owner' ? pause.by : 'system';
  const { requeue, system } = task.job.spec;
  if (pause.requeue && requeue && system === undefined) {
    const because = `${node} was ${pauseWords(pause)}`;
    step.emit({ kind: 'end_asked', place, why: 'requeue', by, because });
  } else if (!task.stops.has(pauseStopper(node)) && siteOf(step.state, task) === null) {
    const because = `the pause of ${node}`;
    step.emit({ kind: 'suspend_asked', place, by, because, stopper: pauseStopper(node) });
  }
}

/** On any node: the part that was on the paused one may have ended meanwhile. */
function wakeTasks(step: Step, node: string): void {
  const stopper = pauseStopper(node);
  for (const task of tasksOf(step.state.nodes.values())) {
    if (!task.stops.has(stopper)) continue;
    const place = placeOf(task.job, task.index);
    step.emit({ kind: 'resume_asked', place, by: 'system', stopper });
  }
}

/** Each once, though it may be on several of the nodes. */
function tasksOf(nodes: Iterable<Pick<Node, 'holding'>>): Set<Task> {
  const found = new Set<Task>();
  for (const { holding } of nodes) {
    // What is next there holds nothing, and is recalled.
    for (const { task, next } of holding.values()) {
      if (task !== null && next === null) found.add(task);
    }
  }
  return found;
}
