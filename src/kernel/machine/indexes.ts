// What follows from the facts and is kept beside them, so that the cost of a step does not depend
// on how much waits. Each noun builds its own again (`index`).

import type { JobId } from '../model/ids.ts';
import { Queue } from '../scheduler/line/queue.ts';
import { HeldBook } from '../scheduler/line/quota.ts';
import { NodePool } from '../scheduler/room/pool.ts';
import type { Job, Task } from './jobs/facts.ts';
import { PlacesBook } from './nodes/places.ts';

/** With those of the wings, each of which adds its own. */
export interface Indexes extends OwnIndexes {}

interface OwnIndexes {
  /** What the scheduler may start, in order. */
  readonly queue: Queue;
  /** What can be given work, for the scheduler. */
  readonly pool: NodePool;
  /** What jobs have on nodes, and what waits there for it. */
  readonly places: PlacesBook;
  /** What users hold, for their limits. */
  readonly held: HeldBook;
  /** Jobs with tasks that hold counted resources of the whole cluster. */
  readonly usesCluster: Set<Job>;
  /** Jobs that wait, by owner and QoS (`waitingKey`). */
  readonly waiting: Map<string, number>;
  /** Jobs that wait for this one. */
  readonly dependents: Map<JobId, Set<JobId>>;
  /** Jobs that wait for their begin time. */
  readonly beginning: Set<JobId>;
  /** Jobs that wait for others to start. */
  readonly following: Set<JobId>;
  /** Tasks stopped to make room, or about to be. */
  readonly preempted: Set<Task>;
  /** Jobs that users gave to sites, by `hpc/4711`. */
  readonly foreign: Map<string, JobId>;
  /** Environments by their content. */
  readonly environmentIds: Map<string, number>;
}

/** Key of `waiting`: for the limit of waiting jobs of one user under one QoS. */
export function waitingKey(owner: string, qos: string): string {
  return `${qos} ${owner}`;
}

export function createIndexes(): OwnIndexes {
  return {
    queue: new Queue(),
    pool: new NodePool(),
    places: new PlacesBook(),
    held: new HeldBook(),
    usesCluster: new Set(),
    waiting: new Map(),
    dependents: new Map(),
    beginning: new Set(),
    following: new Set(),
    preempted: new Set(),
    foreign: new Map(),
    environmentIds: new Map(),
  };
}
