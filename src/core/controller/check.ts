// Every invariant of the head's own books (S9), checked after every test and every simulated event.

import { assert } from '../base/assert.ts';
import { addResources, resourcesKey, subtractResources } from '../model/resources.ts';
import { epochIdOf } from './apply/tasks.ts';
import type { Job, Node, State, Task } from './state.ts';

export function check(state: State): void {
  for (const node of state.nodes.values()) checkNode(node);
  let queued = 0;
  for (const job of state.jobs.values()) {
    checkJob(job);
    if (job.queued) queued += 1;
    for (const task of job.active.values()) checkTask(state, task);
  }
  assert(state.queue.size === queued, `the queue has ${queued} jobs`);
  for (const id of state.finished) {
    assert(state.jobs.get(id)?.outcome != null, `finished job ${id} has an outcome`);
  }
}

function checkNode(node: Node): void {
  let used = subtractResources(node.total, node.total);
  let gpus = 0;
  for (const { share, task, epochId } of node.holding.values()) {
    used = addResources(used, share.resources);
    gpus += share.gpus.length;
    assert(share.node === node.name, `${epochId} holds its own node`);
    if (task !== null) assert(epochIdOf(task) === epochId, `${epochId} is the task's epoch`);
  }
  const free = subtractResources(node.total, used);
  assert(resourcesKey(free) === resourcesKey(node.free), `${node.name}: free is what is not held`);
  assert(node.gpusFree.size === node.total.gpuCount - gpus, `${node.name}: gpus add up`);
}

function checkJob(job: Job): void {
  let tasks = job.entry.pending.size;
  let running = 0;
  for (const set of job.ended.values()) tasks += set.size;
  for (const task of job.active.values()) {
    if (!job.entry.pending.has(task.index)) tasks += 1;
    if (task.parts.size > 0) running += 1;
  }
  assert(tasks === job.taskCount, `job ${job.id}: ${tasks} of ${job.taskCount} tasks accounted for`);
  assert(running === job.entry.running, `job ${job.id}: ${running} tasks hold resources`);
  const over = job.entry.pending.size === 0 && job.active.size === 0;
  assert(over === (job.outcome !== null), `job ${job.id} is done when its tasks are`);
  const max = job.entry.runningMax;
  assert(max === null || running <= max, `job ${job.id} keeps its running limit`);
}

const HOLDS_RESOURCES = new Set(['starting', 'running', 'suspended', 'completing']);

function checkTask(state: State, task: Task): void {
  const holds = HOLDS_RESOURCES.has(task.state);
  assert(holds === task.parts.size > 0, `${task.id} is ${task.state} with ${task.parts.size} parts`);
  for (const [name, part] of task.parts) {
    const holding = state.nodes.get(name)?.holding.get(epochIdOf(task));
    const wanted = part.state !== 'ended';
    assert((holding?.task === task) === wanted, `${task.id} holds ${name}: ${wanted}`);
  }
}
