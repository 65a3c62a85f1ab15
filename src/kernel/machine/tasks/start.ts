// Starts that an external scheduler decides. The head still judges them: what is held, does not fit
// or would run into maintenance does not start, whoever wants it.

import { assert } from '../../base/assert.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { Actor } from '../../model/actor.ts';
import type { Refusal } from '../../model/errors.ts';
import { formatTaskId, type NodeName, type TaskPlace } from '../../model/ids.ts';
import { isMember, partitionOf } from '../../model/scheduling.ts';
import { askOf } from '../../scheduler/room/ask.ts';
import { Board } from '../../scheduler/room/board.ts';
import { explainPending, type Pending, pendingOf } from '../answers/explain.ts';
import { needRole } from '../authority.ts';
import type { Job, Task } from '../jobs/facts.ts';
import { indexOf } from '../jobs/place.ts';
import { labelsOf } from '../nodes/view.ts';
import { schedulingOf } from '../partitions/settings.ts';
import { allocate, openSnapshotOf } from '../schedule.ts';
import type { Answer, Step } from '../step.ts';
import type { StartTask } from './commands.ts';
import { shownState } from './shown-state.ts';

export function decideStart(step: Step, { place, nodes }: StartTask, actor: Actor): Answer {
  const allowed = needRole(actor, 'operator', 'starting jobs');
  if (!allowed.ok) return allowed;
  const found = findJob(step, place);
  if (!found.ok) return found;
  const job = found.value;
  const task = job.active.get(indexOf(place));
  if (task !== undefined && task.parts.size > 0) return again(step, place, task, nodes);
  const wrong = checkWaiting(step, job, place) ?? checkNodes(step, job, nodes);
  if (wrong !== null) return err(wrong);
  const pending = pinned(pendingOf(job, indexOf(place)), nodes);
  const reason = explainPending(step.state, step.settings, pending, step.at);
  if (reason.kind !== 'partition' || reason.problem !== 'external') {
    return ok({ kind: 'not_started', reason });
  }
  start(step, job, pending);
  return ok({ kind: 'changed', count: 1 });
}

function findJob(step: Step, place: TaskPlace): Result<Job, Refusal> {
  const { scheduling } = step.settings;
  const job = step.state.jobs.get(place.jobId);
  const text = formatTaskId(place.jobId, place.index);
  if (job === undefined) return step.refuse('job.not_found', { job: text });
  const { name, policy } = partitionOf(
    schedulingOf(step.state, step.settings),
    job.spec.partition,
  ) ?? { name: job.spec.partition, policy: null };
  if (policy !== 'external') {
    const hint = Object.hasOwn(scheduling.partitions, name)
      ? `An operator hands it over with \`weft partition set ${name} policy=external\`.`
      : undefined;
    return step.refuse('start.not_external', { job: text, partition: name }, hint);
  }
  if (job.spec.array === null || place.index !== null) return ok(job);
  return step.refuse('job.is_array', { job: text });
}

/** Asked for once more: nothing happens, unless it was to be elsewhere. */
function again(step: Step, place: TaskPlace, task: Task, nodes: readonly NodeName[]): Answer {
  const isSame = task.parts.size === nodes.length && nodes.every((name) => task.parts.has(name));
  if (isSame && task.ending === null) return ok({ kind: 'changed', count: 0 });
  const job = formatTaskId(place.jobId, place.index);
  return step.refuse('job.not_pending', { job, state: shownState(task) });
}

function checkWaiting(step: Step, job: Job, place: TaskPlace): Refusal | null {
  const index = indexOf(place);
  const text = formatTaskId(place.jobId, place.index);
  const ended = [...job.ended].find(([, indices]) => indices.has(index));
  const outcome = job.outcome?.kind ?? ended?.[0];
  if (outcome !== undefined)
    return refusal(step.refuse('job.already_done', { job: text, outcome }));
  const isThere =
    job.pending.has(index) ||
    job.active.has(index) ||
    [...job.behind.values()].some((set) => set.has(index));
  return isThere ? null : refusal(step.refuse('job.not_found', { job: text }));
}

function checkNodes(step: Step, { spec }: Job, nodes: readonly NodeName[]): Refusal | null {
  const { state, settings } = step;
  const { request, partition: name } = spec;
  const partition = partitionOf(schedulingOf(state, settings), name);
  for (const node of nodes) {
    const known = state.nodes.get(node);
    if (known === undefined) return refusal(step.refuse('node.not_found', { node }));
    const isOfPartition =
      partition !== null && isMember(partition, { name: node, labels: labelsOf(known) });
    const what = isOfPartition
      ? `the job may not run on ${node}`
      : `${node} is not a node of partition ${name}`;
    const isNamed = request.nodeNames.length === 0 || request.nodeNames.includes(node);
    if (!isOfPartition || !isNamed) return refusal(step.refuse('argument.invalid', { what }));
  }
  const isOncePerPart = new Set(nodes).size === nodes.length && nodes.length === request.nodeCount;
  if (isOncePerPart) return null;
  const what = `the task has ${request.nodeCount} parts, each on a node of its own; the start names ${nodes.join(', ')}`;
  return refusal(step.refuse('argument.invalid', { what }));
}

function refusal(result: Result<never, Refusal>): Refusal {
  assert(!result.ok, 'a refusal');
  return result.error;
}

/** The same task, had it asked for just these nodes. */
function pinned(pending: Pending, nodes: readonly NodeName[]): Pending {
  const { shape } = pending.entry;
  const at = `|at ${nodes.join()}`;
  const request = { ...shape.request, nodeNames: nodes };
  const keys = { key: shape.key + at, anyTimeKey: shape.anyTimeKey + at };
  return { ...pending, entry: { ...pending.entry, shape: { ...shape, ...keys, request } } };
}

function start(step: Step, job: Job, { entry, index }: Pending): void {
  const { state, settings, at } = step;
  const snapshot = openSnapshotOf(state, settings, 1, at);
  const partition = partitionOf(snapshot.scheduling, job.spec.partition);
  assert(partition !== null, `partition ${job.spec.partition} is there`);
  const board = new Board({ ...snapshot, now: at });
  const ask = askOf(entry.shape, partition);
  const views = board.fitting(ask, ask.request.nodeCount);
  allocate(step, job, index, board.start(ask, views, { jobId: job.id, index }));
}
