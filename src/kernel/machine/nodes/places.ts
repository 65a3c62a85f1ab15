// Places of jobs on nodes: how many tasks of a job hold a share of a node, and what waits there to
// have one of these shares next.

import type { EpochId, JobId, NodeName } from '../../model/ids.ts';
import type { Share } from '../../model/orders.ts';
import type { Holding } from './facts.ts';

/** Those of one job on one node. */
export interface JobPlaces {
  /** Tasks that hold a share. */
  count: number;
  /** What one of them holds; that of another is the same, but for its gpus. */
  share: Share;
  /** What waits for a place, in the order in which places are given. */
  readonly next: Map<EpochId, Holding>;
}

export class PlacesBook {
  readonly #byNode = new Map<NodeName, Map<JobId, JobPlaces>>();
  /** How many wait for a place, by node; nodes without any are not in here. */
  readonly #waiting = new Map<NodeName, number>();

  /** Nodes where something waits for a place. */
  get waiting(): readonly NodeName[] {
    return [...this.#waiting.keys()];
  }

  waitsOn(node: NodeName): boolean {
    return this.#waiting.has(node);
  }

  of(node: NodeName, jobId: JobId): JobPlaces | undefined {
    return this.#byNode.get(node)?.get(jobId);
  }

  on(node: NodeName): Iterable<readonly [JobId, JobPlaces]> {
    return this.#byNode.get(node) ?? [];
  }

  /** What no task counts is nobody's place. */
  add(node: NodeName, holding: Holding): void {
    if (holding.task === null) return;
    const places = this.#opened(node, holding.task.job.id, holding.share);
    if (holding.next === null) {
      places.count += 1;
      places.share = holding.share;
      return;
    }
    places.next.set(holding.epochId, holding);
    this.#waiting.set(node, (this.#waiting.get(node) ?? 0) + 1);
  }

  /** The opposite of `add`, while the holding is as it was then. */
  remove(node: NodeName, holding: Holding): void {
    const { task, epochId, next } = holding;
    const jobs = this.#byNode.get(node);
    const places = task === null ? undefined : jobs?.get(task.job.id);
    if (task === null || jobs === undefined || places === undefined) return;
    if (next === null) places.count -= 1;
    else if (places.next.delete(epochId)) this.#forgetOne(node);
    if (places.count === 0 && places.next.size === 0) jobs.delete(task.job.id);
    if (jobs.size === 0) this.#byNode.delete(node);
  }

  #opened(node: NodeName, jobId: JobId, share: Share): JobPlaces {
    let jobs = this.#byNode.get(node);
    if (jobs === undefined) {
      jobs = new Map();
      this.#byNode.set(node, jobs);
    }
    let places = jobs.get(jobId);
    if (places === undefined) {
      places = { count: 0, share, next: new Map() };
      jobs.set(jobId, places);
    }
    return places;
  }

  #forgetOne(node: NodeName): void {
    const left = (this.#waiting.get(node) ?? 0) - 1;
    if (left > 0) this.#waiting.set(node, left);
    else this.#waiting.delete(node);
  }
}
