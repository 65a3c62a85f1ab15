// Tasks that are next on a node: their orders wait there for a place of their job, so that a place is
// taken without the head being asked (A35-A39). It is all given anew with each end, and only for so
// little work ahead that whatever else is to have the place hardly waits.

import type { JobId, NodeName } from '../model/ids.ts';
import {
  NEXT_AHEAD_MS,
  NEXT_PER_CYCLE_MAX,
  NEXT_PER_NODE_MAX,
  NEXT_TASK_MS_MAX,
} from '../model/limits.ts';
import { fitsIn } from '../model/resources.ts';
import { isMember, type Partition } from '../model/scheduling.ts';
import type { Plan } from '../scheduler/cycle/plan.ts';
import { lineRules, type Snapshot } from '../scheduler/cycle/snapshot.ts';
import { Line } from '../scheduler/line/line.ts';
import { isHeldNow } from './jobs/apply.ts';
import type { Job } from './jobs/facts.ts';
import { placeOf } from './jobs/place.ts';
import { freeOf } from './nodes/cards.ts';
import type { Holding, Node } from './nodes/facts.ts';
import type { JobPlaces } from './nodes/places.ts';
import { reservedAhead } from './nodes/reserved-ahead.ts';
import { labelsOf, mayGetWork } from './nodes/view.ts';
import type { State } from './state.ts';
import type { Step } from './step.ts';
import { nextEpoch } from './tasks/epoch.ts';

/** A node on which tasks of the job have ended since the last cycle. */
export interface Ended {
  readonly node: NodeName;
  readonly jobId: JobId;
}

/** Before the plan: places that were given up go to what is next there, unless a node has given them. */
export function fillPlaces(step: Step): Ended[] {
  const { state } = step;
  const ended: Ended[] = [];
  for (const { node: name, jobId, count } of state.scratch.freed.takeAll()) {
    ended.push({ node: name, jobId });
    const node = state.nodes.get(name);
    const job = state.jobs.get(jobId);
    const places = state.indexes.places.of(name, jobId);
    if (node === undefined || job === undefined || places === undefined) continue;
    if (places.next.size === 0 || !mayGetWork(node) || isBarred(step, node, job)) continue;
    const first = [...places.next.values()].filter(mayBePlaced).slice(0, count);
    for (const { epochId, share } of first) {
      if (fitsIn(share.resources, freeOf(node))) {
        step.emit({ kind: 'part_placed', epochId, node: name });
      }
    }
  }
  return ended;
}

function mayBePlaced({ next, task }: Holding): boolean {
  return next === 'waits' && task !== null && task.ending === null;
}

/** After the plan: what is next where it may not be any more is recalled, and more is given. */
export function decideBacklog(
  step: Step,
  { snapshot, plan, ended }: { snapshot: Snapshot; plan: Plan; ended: readonly Ended[] },
): void {
  const isStopped = plan.preemptions.length > 0 || step.state.indexes.preempted.size > 0;
  for (const name of step.state.indexes.places.waiting) recall(step, name, isStopped);
  if (isStopped) return;
  const front = new Front(step.state, snapshot, plan);
  let left = NEXT_PER_CYCLE_MAX;
  for (const one of ended) left -= give(step, one, front, left);
}

function recall(step: Step, name: NodeName, isStopped: boolean): void {
  const node = step.state.nodes.get(name);
  if (node === undefined) return;
  const isClosed = isStopped || !mayGetWork(node);
  for (const [jobId, places] of step.state.indexes.places.on(name)) {
    if (places.next.size === 0) continue;
    const job = step.state.jobs.get(jobId);
    const isOff = isClosed || job === undefined || places.count === 0 || isBarred(step, node, job);
    if (!isOff) continue;
    for (const holding of places.next.values()) {
      if (mayBePlaced(holding)) {
        step.emit({ kind: 'part_recalled', epochId: holding.epochId, node: name });
      }
    }
  }
}

/** No place may pass to a task of the job there now. */
function isBarred({ state, at }: Step, node: Node, job: Job): boolean {
  if (isHeldNow(job) || job.entry.runningMax !== null) return true;
  return reservedAhead(state, node.name, job.spec, at) !== null;
}

/** How many tasks were given. */
function give(step: Step, { node: name, jobId }: Ended, front: Front, max: number): number {
  const { state } = step;
  const job = state.jobs.get(jobId);
  const places = state.indexes.places.of(name, jobId);
  if (job === undefined || places === undefined) return 0;
  const wanted = Math.min(wantedNext(state, job, places), job.pending.size, max);
  if (wanted === 0) return 0;
  const node = state.nodes.get(name);
  if (node === undefined || !mayFollow(step, node, job, places) || !front.has(job, node)) return 0;
  let given = 0;
  for (const index of [...first(job.pending, wanted)]) {
    const shares = [places.share];
    const epoch = nextEpoch(state, { job, index }, shares);
    const place = placeOf(job, index);
    step.emit({ kind: 'task_allocated', place, epoch, shares, next: true });
    given += 1;
  }
  return given;
}

function* first(numbers: Iterable<number>, count: number): Generator<number> {
  let left = count;
  for (const number of numbers) {
    if (left === 0) return;
    yield number;
    left -= 1;
  }
}

/** How many more are to be next: none while at least half of them are there. */
function wantedNext(state: State, job: Job, { count, next }: JobPlaces): number {
  const meanMs = state.scratch.paces.meanOf(job.id);
  if (meanMs === null || meanMs > NEXT_TASK_MS_MAX) return 0;
  const ahead = Math.floor((count * NEXT_AHEAD_MS) / Math.max(1, meanMs));
  const wanted = Math.min(NEXT_PER_NODE_MAX, ahead);
  return next.size > wanted / 2 ? 0 : wanted - next.size;
}

/** Only where any task of the job is as good as another, and has the same share. */
function mayFollow(step: Step, node: Node, job: Job, places: JobPlaces): boolean {
  const { array, pool, foreign, system, mpi, batch, requeue, request } = job.spec;
  if (array === null || !requeue || pool !== undefined || foreign !== undefined) return false;
  if (system !== undefined || mpi !== undefined || batch?.buildMs !== undefined) return false;
  if (request.nodeCount > 1 || request.exclusive || places.share.gpus.length > 0) return false;
  if (request.ofCluster !== undefined) return false;
  if (node.features?.includes('next') !== true || node.facts?.site !== undefined) return false;
  if (!mayGetWork(node) || places.count === 0 || isBarred(step, node, job)) return false;
  const labels = labelsOf(node);
  return request.labels.every((label) => labels.has(label));
}

/** The first in line, worked out when somebody asks. */
class Front {
  readonly #state: State;
  readonly #snapshot: Snapshot;
  readonly #plan: Plan;
  #first: readonly { readonly jobId: JobId; readonly partition: Partition }[] | null = null;

  constructor(state: State, snapshot: Snapshot, plan: Plan) {
    this.#state = state;
    this.#snapshot = snapshot;
    this.#plan = plan;
  }

  /** Whether nobody goes before the job on this node. */
  has(job: Job, node: Node): boolean {
    // Of what needs gpus some may go first there, whatever its place in the line (P15).
    if (node.total.gpuCount > 0 && this.#state.indexes.queue.gpuGroups.size > 0) return false;
    // Somebody counts on a time from which the node is free (A13, A14).
    const isPromised = this.#plan.promised.some(({ jobId, nodes }) => {
      return jobId !== job.id && nodes.includes(node.name);
    });
    if (isPromised) return false;
    this.#first ??= firstOfEach(this.#state, this.#snapshot);
    const member = { name: node.name, labels: labelsOf(node) };
    for (const { jobId, partition } of this.#first) {
      if (jobId === job.id) return partition.policy !== 'external';
      if (isMember(partition, member)) return false;
    }
    return false;
  }
}

/** The first job of each partition, in the order of the line. */
function firstOfEach(
  { indexes: { queue } }: State,
  snapshot: Snapshot,
): { jobId: JobId; partition: Partition }[] {
  const line = new Line(queue.bands, lineRules(snapshot));
  const found: { jobId: JobId; partition: Partition }[] = [];
  for (let next = line.first; next !== undefined; next = line.first) {
    found.push({ jobId: next.entry.jobId, partition: next.partition });
    line.close(next.partition.name);
  }
  return found;
}
