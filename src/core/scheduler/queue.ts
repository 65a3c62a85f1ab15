// What waits for resources, in order. Jobs with equal requests of one user share a group, so that a
// request that does not fit is asked once a cycle however many tasks wait with it.

import { assert } from '../base/assert.ts';
import type { IntervalSet } from '../base/interval-set.ts';
import { SortedList } from '../base/sorted-list.ts';
import type { JobId, UserName } from '../model/ids.ts';
import type { ResourceRequest } from '../model/job.ts';
import { resourcesKey } from '../model/resources.ts';
import { DEFAULT_WEIGHTS, type Weights } from '../model/scheduling.ts';
import { ownPriority } from './priority.ts';

/** A job that may start now as far as holds, dependencies and times go. */
export interface QueueEntry {
  readonly jobId: JobId;
  readonly owner: UserName;
  readonly qos: string;
  readonly nice: number;
  /** Ms since 1970. */
  readonly submittedAt: number;
  readonly shape: Shape;
  /** Indices of the tasks that wait; never empty while the entry is queued. */
  readonly pending: IntervalSet;
  /** Array tasks that may hold resources at once; null = all. */
  readonly runningMax: number | null;
  /** How many hold resources now. */
  running: number;
}

/** One kind of request. Equal ones are the same object (`ShapeBook`). */
export interface Shape extends ShapeParts {
  readonly key: string;
  /** As `key`, whatever the time limit: what does not fit for an hour does not for two. */
  readonly anyTimeKey: string;
}

export interface ShapeParts {
  readonly partition: string;
  readonly request: ResourceRequest;
  readonly walltimeMs: number | null;
  /** The reservation asked for by name. */
  readonly reservation: string | null;
}

/**
 * Entries that stand or fall together: one shape of one user, or one array with a running limit.
 */
export interface Group {
  readonly key: string;
  readonly shape: Shape;
  readonly owner: UserName;
  readonly qos: string;
  readonly entries: SortedList<QueueEntry>;
}

export class Queue {
  readonly groups = new Map<string, Group>();
  #weights = DEFAULT_WEIGHTS;
  #size = 0;

  /** Entries, not tasks. */
  get size(): number {
    return this.#size;
  }

  /** Orders anew by other weights. Cheap when they are the same object as before. */
  weigh(weights: Weights): void {
    if (weights === this.#weights) return;
    this.#weights = weights;
    const entries = [...this.groups.values()].flatMap((group) => [...group.entries]);
    this.groups.clear();
    this.#size = 0;
    for (const entry of entries) this.add(entry);
  }

  add(entry: QueueEntry): void {
    assert(entry.pending.size > 0, `job ${entry.jobId} has something to start`);
    const key = groupKey(entry);
    let group = this.groups.get(key);
    if (group === undefined) {
      const { shape, owner, qos } = entry;
      group = { key, shape, owner, qos, entries: new SortedList(this.#compare) };
      this.groups.set(key, group);
    }
    group.entries.insert(entry);
    this.#size += 1;
  }

  remove(entry: QueueEntry): void {
    const key = groupKey(entry);
    const group = this.groups.get(key);
    assert(group !== undefined, `job ${entry.jobId} is queued`);
    group.entries.remove(entry);
    this.#size -= 1;
    if (group.entries.size === 0) this.groups.delete(key);
  }

  /** Highest own priority first, then age by id. A total order. */
  readonly #compare = (a: QueueEntry, b: QueueEntry): number =>
    ownPriority(b, this.#weights) - ownPriority(a, this.#weights) || a.jobId - b.jobId;
}

function groupKey({ shape, owner, qos, runningMax, jobId }: QueueEntry): string {
  const whose = `${shape.key}!${owner}!${qos}`;
  return runningMax === null ? whose : `${whose}!${jobId}`;
}

/** Hands out one `Shape` per distinct request. */
export class ShapeBook {
  readonly #shapes = new Map<string, Shape>();

  of(parts: ShapeParts): Shape {
    const anyTimeKey = shapeKey(parts);
    const key = `${anyTimeKey}|${parts.walltimeMs ?? ''}`;
    let shape = this.#shapes.get(key);
    if (shape === undefined) {
      shape = { ...parts, key, anyTimeKey };
      this.#shapes.set(key, shape);
      // Shapes are cheap to make again; the book only has to share those in use.
      if (this.#shapes.size > 10_000) this.#shapes.clear();
    }
    return shape;
  }
}

function shapeKey({ partition, request: r, reservation }: ShapeParts): string {
  const labels = [...r.labels].sort().join(',');
  const names = [...r.nodeNames].sort().join(',');
  const kind = r.exclusive ? 'x' : 's';
  const where = `${partition}|${reservation ?? ''}`;
  return `${where}|${r.nodeCount}|${resourcesKey(r.perNode)}|${kind}|${labels}|${names}`;
}
