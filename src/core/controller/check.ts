// Every invariant of the head's own books (S9), checked after every test and every simulated event.

import { assert } from '../base/assert.ts';
import type { UserName } from '../model/ids.ts';
import { addResources, resourcesKey, subtractResources } from '../model/resources.ts';
import { billedOf, epochIdOf } from './apply/tasks.ts';
import { heldOf } from './node-view.ts';
import type { Job, Node, State, Task } from './state.ts';

export function check(state: State): void {
  for (const node of state.nodes.values()) {
    checkNode(node);
    checkPool(state, node);
  }
  checkUsage(state);
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

/** What users are charged for is what their tasks hold. */
function checkUsage({ jobs, usage }: State): void {
  const held = new Map<UserName, [cpus: number, bytes: number, gpus: number]>();
  for (const { owner, active } of jobs.values()) {
    for (const task of active.values()) {
      const [cpus, bytes, gpus] = held.get(owner) ?? [0, 0, 0];
      const { cpuCount, memoryBytes, gpuCount } = billedOf(task);
      held.set(owner, [cpus + cpuCount, bytes + memoryBytes, gpus + gpuCount]);
    }
  }
  for (const user of new Set([...held.keys(), ...usage.usageAt(0).keys()])) {
    const [cpus, bytes, gpus] = held.get(user) ?? [0, 0, 0];
    const { cpuCount, memoryBytes, gpuCount } = usage.heldBy(user);
    const isSame = cpuCount === cpus && memoryBytes === bytes && gpuCount === gpus;
    assert(isSame, `${user} is charged for ${cpus} cpus, ${bytes} bytes, ${gpus} gpus`);
  }
}

function checkNode(node: Node): void {
  let used = subtractResources(node.total, node.total);
  const gpus = new Set<number>();
  for (const holding of node.holding.values()) {
    const { share, task, epochId, yieldedCpus } = holding;
    used = addResources(used, heldOf(holding));
    assert(
      yieldedCpus === 0 || task?.preempted !== null,
      `${epochId} gave its cpus up to make room`,
    );
    for (const gpu of share.gpus) if (gpu < node.total.gpuCount) gpus.add(gpu);
    assert(share.node === node.name, `${epochId} holds its own node`);
    if (task !== null) assert(epochIdOf(task) === epochId, `${epochId} is the task's epoch`);
  }
  const free = subtractResources(node.total, used);
  assert(resourcesKey(free) === resourcesKey(node.free), `${node.name}: free is what is not held`);
  assert(node.gpusFree.size === node.total.gpuCount - gpus.size, `${node.name}: gpus add up`);
}

/** The scheduler sees exactly the nodes that may get work, as they are. */
function checkPool(state: State, node: Node): void {
  const view = state.pool.get(node.name);
  const wanted = node.connected && node.drain === null && node.fault === null;
  assert((view !== undefined) === wanted, `${node.name} is offered to the scheduler: ${wanted}`);
  if (view === undefined) return;
  assert(resourcesKey(view.free) === resourcesKey(node.free), `${node.name}: the pool is fresh`);
  assert(view.gpusFree.length === node.gpusFree.size, `${node.name}: the pool knows its gpus`);
}

function checkJob(job: Job): void {
  let tasks = job.entry.pending.size;
  let running = 0;
  for (const set of job.ended.values()) tasks += set.size;
  for (const task of job.active.values()) {
    if (!job.entry.pending.has(task.index)) tasks += 1;
    if (task.parts.size > 0) running += 1;
  }
  assert(
    tasks === job.taskCount,
    `job ${job.id}: ${tasks} of ${job.taskCount} tasks accounted for`,
  );
  assert(running === job.entry.running, `job ${job.id}: ${running} tasks hold resources`);
  const over = job.entry.pending.size === 0 && job.active.size === 0;
  assert(over === (job.outcome !== null), `job ${job.id} is done when its tasks are`);
  const startable = !job.held && job.waitsFor.size === 0 && job.beginReached;
  const queued = startable && job.entry.pending.size > 0;
  assert(job.queued === queued, `job ${job.id} is queued exactly when it may start: ${queued}`);
  const max = job.entry.runningMax;
  assert(max === null || running <= max, `job ${job.id} keeps its running limit`);
}

const HOLDS_RESOURCES = new Set(['starting', 'running', 'suspended', 'completing']);

function checkTask(state: State, task: Task): void {
  const holds = HOLDS_RESOURCES.has(task.state);
  assert(
    holds === task.parts.size > 0,
    `${task.id} is ${task.state} with ${task.parts.size} parts`,
  );
  assert(
    state.preempted.has(task) === (task.preempted !== null),
    `${task.id} is listed as stopped exactly when it was`,
  );
  for (const [name, part] of task.parts) {
    const holding = state.nodes.get(name)?.holding.get(epochIdOf(task));
    const wanted = part.state !== 'ended';
    assert((holding?.task === task) === wanted, `${task.id} holds ${name}: ${wanted}`);
  }
}
