// Tasks that are next on a node: their orders wait there for a place of their job, so that a place
// is taken without the head being asked (A35-A39). It is all given anew with each end, and only for
// so little work ahead that whatever else is to have the place hardly waits.

import type { JobId, NodeName } from '../model/ids.ts';
import { meetsLabel } from '../model/labels.ts';
import {
  NEXT_AHEAD_MS,
  NEXT_PER_CYCLE_MAX,
  NEXT_PER_NODE_MAX,
  NEXT_TASK_MS_MAX,
} from '../model/limits.ts';
import { fitsIn } from '../model/resources.ts';
import { isMember } from '../model/scheduling.ts';
import type { Plan } from '../scheduler/cycle/plan.ts';
import { lineRules, type Snapshot } from '../scheduler/cycle/snapshot.ts';
import {
  type Candidate,
  candidateOf,
  isBefore,
  Line,
  type LineRules,
} from '../scheduler/line/line.ts';
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

/** Before the plan: given-up places go to what is next there, unless a node has given them. */
export function fillPlaces(step: Step, snapshot: Snapshot): Ended[] {
  const { state } = step;
  const front = new Front(step, snapshot, []);
  const ended: Ended[] = [];
  for (const { node: name, jobId, count } of state.scratch.freed.takeAll()) {
    ended.push({ node: name, jobId });
    const node = state.nodes.get(name);
    const job = state.jobs.get(jobId);
    const next = state.indexes.places.of(name, jobId)?.next;
    if (count === 0 || node === undefined || job === undefined || next === undefined) continue;
    if (next.size === 0 || !mayPass(front, node, job)) continue;
    for (const { epochId, share } of first([...next.values()].filter(mayBePlaced), count)) {
      if (fitsIn(share.resources, freeOf(node))) {
        step.emit({ kind: 'part_placed', epochId, node: name });
      }
    }
  }
  return ended;
}

/** Jobs of which a task is, or may become, the next on a node, if nothing is promised there. */
export function backlogJobs({ jobs, indexes }: State, ended: readonly Ended[]): Set<JobId> {
  const found = new Set<JobId>();
  for (const { jobId } of ended) if ((jobs.get(jobId)?.pending.size ?? 0) > 0) found.add(jobId);
  for (const name of indexes.places.waiting) {
    for (const [jobId, { next }] of indexes.places.on(name)) if (next.size > 0) found.add(jobId);
  }
  return found;
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
  const quotas = snapshot.quotas?.afterStarts() ?? null;
  const front = new Front(step, { ...snapshot, quotas }, plan.promised);
  for (const name of step.state.indexes.places.waiting)
    recall(step, name, isStopped ? null : front);
  if (isStopped) return;
  let left = NEXT_PER_CYCLE_MAX;
  for (const one of ended) left -= give(step, one, front, left);
}

/** `front` null: no place passes on anywhere. */
function recall(step: Step, name: NodeName, front: Front | null): void {
  const node = step.state.nodes.get(name);
  if (node === undefined) return;
  for (const [jobId, places] of step.state.indexes.places.on(name)) {
    if (places.next.size === 0) continue;
    const job = step.state.jobs.get(jobId);
    const isRight = front !== null && job !== undefined && places.count > 0;
    if (isRight && mayPass(front, node, job)) continue;
    for (const holding of places.next.values()) {
      if (mayBePlaced(holding)) {
        step.emit({ kind: 'part_recalled', epochId: holding.epochId, node: name });
      }
    }
  }
}

/** Whether a place of the job there may go to another task of it now. */
function mayPass(front: Front, node: Node, job: Job): boolean {
  if (!mayGetWork(node) || isHeldNow(job) || !job.beginReached || job.waitsFor.size > 0)
    return false;
  if (job.entry.runningMax !== null || job.spec.reservation !== undefined) return false;
  // The node has become smaller than what is given of it.
  const { cpuCount, memoryBytes } = node.free;
  return cpuCount >= 0 && memoryBytes >= 0 && front.has(job, node);
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
  if (node === undefined || !isAlike(job, places) || !mayPass(front, node, job)) return 0;
  if (node.features?.includes('next') !== true || node.facts?.site !== undefined) return 0;
  const shares = [places.share];
  const indices = [...first(job.pending, wanted)];
  for (const index of indices) {
    const epoch = nextEpoch(state, { job, index }, shares);
    const place = placeOf(job, index);
    step.emit({ kind: 'task_allocated', place, epoch, shares, next: true });
  }
  return indices.length;
}

function* first<T>(all: Iterable<T>, count: number): Generator<T> {
  let left = count;
  for (const one of all) {
    if (left === 0) return;
    yield one;
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
function isAlike(job: Job, places: JobPlaces): boolean {
  const { array, pool, foreign, system, mpi, batch, requeue, request } = job.spec;
  if (array === null || !requeue || pool !== undefined || foreign !== undefined) return false;
  if (system !== undefined || mpi !== undefined || batch?.buildMs !== undefined) return false;
  if (request.nodeCount > 1 || request.exclusive || request.ofCluster !== undefined) return false;
  return places.count > 0 && places.share.gpus.length === 0;
}

/** What goes first where, worked out when somebody asks. */
class Front {
  readonly #step: Step;
  readonly #snapshot: Snapshot;
  readonly #promised: Plan['promised'];
  #rules: LineRules | null = null;
  #firsts: readonly Candidate[] | null = null;
  readonly #own = new Map<JobId, Candidate | null>();

  constructor(step: Step, snapshot: Snapshot, promised: Plan['promised']) {
    this.#step = step;
    this.#snapshot = snapshot;
    this.#promised = promised;
  }

  /** Whether nobody goes before the job on this node, and it may have what it has there. */
  has(job: Job, node: Node): boolean {
    const { state, at } = this.#step;
    // Of what needs gpus some may go first there, whatever its place in the line (P15).
    if (node.total.gpuCount > 0 && state.indexes.queue.gpuGroups.size > 0) return false;
    // Somebody counts on a time from which the node is free (A13, A14).
    const isPromised = this.#promised.some(({ jobId, nodes }) => {
      return jobId !== job.id && nodes.includes(node.name);
    });
    if (isPromised || reservedAhead(state, node.name, job.spec, at) !== null) return false;
    return this.#isFirst(job, node);
  }

  #isFirst(job: Job, node: Node): boolean {
    const own = this.#candidate(job);
    if (own === null) return false;
    const labels = labelsOf(node);
    const member = { name: node.name, labels };
    const { request } = job.entry.shape;
    if (!request.labels.every((label) => meetsLabel(labels, label))) return false;
    if (request.nodeNames.length > 0 && !request.nodeNames.includes(node.name)) return false;
    if (!isMember(own.partition, member)) return false;
    this.#firsts ??= firstOfEach(this.#step.state, this.#snapshot);
    return !this.#firsts.some((other) => {
      const isOther = other.entry.jobId !== job.id;
      return isOther && isBefore(other, own) && isMember(other.partition, member);
    });
  }

  /** Null: it may start nothing more, or not by this scheduler. */
  #candidate(job: Job): Candidate | null {
    let own = this.#own.get(job.id);
    if (own !== undefined) return own;
    this.#rules ??= lineRules(this.#snapshot);
    own = candidateOf(job.entry, job.lastIndex, this.#rules);
    const isFull = own !== null && (this.#snapshot.quotas?.full(own) ?? null) !== null;
    if (own?.partition.policy === 'external' || isFull) own = null;
    this.#own.set(job.id, own);
    return own;
  }
}

/** The first task in line of each partition. */
function firstOfEach({ indexes: { queue } }: State, snapshot: Snapshot): Candidate[] {
  const line = new Line(queue.bands, lineRules(snapshot));
  const found: Candidate[] = [];
  for (let next = line.first; next !== undefined; next = line.first) {
    found.push({ ...next });
    line.close(next.partition.name);
  }
  return found;
}
