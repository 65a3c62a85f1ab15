// What waits for resources, in order. Jobs with equal requests share a group, so that a request
// that does not fit is asked once a cycle however many tasks wait with it.

import { assert } from '../base/assert.ts';
import type { IntervalSet } from '../base/interval-set.ts';
import { SortedList } from '../base/sorted-list.ts';
import type { JobId } from '../model/ids.ts';
import type { ResourceRequest } from '../model/job.ts';
import { resourcesKey } from '../model/resources.ts';

/** A job that may start now as far as holds, dependencies and times go. */
export interface QueueEntry {
  readonly jobId: JobId;
  readonly nice: number;
  readonly shape: Shape;
  /** Indices of the tasks that wait; never empty while the entry is queued. */
  readonly pending: IntervalSet;
  /** Array tasks that may hold resources at once; null = all. */
  readonly runningMax: number | null;
  /** How many hold resources now. */
  running: number;
}

/** One kind of request. Equal requests are the same object (`ShapeBook`). */
export interface Shape {
  readonly key: string;
  readonly partition: string;
  readonly request: ResourceRequest;
}

/** Entries that stand or fall together: one shape, or one array with a running limit. */
export interface Group {
  readonly key: string;
  readonly shape: Shape;
  readonly entries: SortedList<QueueEntry>;
}

/** Priority, highest first: the user's nice, then age by id. A total order. */
export function compareEntries(a: QueueEntry, b: QueueEntry): number {
  return a.nice - b.nice || a.jobId - b.jobId;
}

export class Queue {
  readonly groups = new Map<string, Group>();
  #size = 0;

  /** Entries, not tasks. */
  get size(): number {
    return this.#size;
  }

  add(entry: QueueEntry): void {
    assert(entry.pending.size > 0, `job ${entry.jobId} has something to start`);
    const key = groupKey(entry);
    let group = this.groups.get(key);
    if (group === undefined) {
      group = { key, shape: entry.shape, entries: new SortedList(compareEntries) };
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
}

function groupKey(entry: QueueEntry): string {
  return entry.runningMax === null ? entry.shape.key : `${entry.shape.key}!${entry.jobId}`;
}

/** Hands out one `Shape` per distinct request. */
export class ShapeBook {
  readonly #shapes = new Map<string, Shape>();

  of(partition: string, request: ResourceRequest): Shape {
    const key = shapeKey(partition, request);
    let shape = this.#shapes.get(key);
    if (shape === undefined) {
      shape = { key, partition, request };
      this.#shapes.set(key, shape);
      // Shapes are cheap to make again; the book only has to share those in use.
      if (this.#shapes.size > 10_000) this.#shapes.clear();
    }
    return shape;
  }
}

function shapeKey(partition: string, r: ResourceRequest): string {
  const labels = [...r.labels].sort().join(',');
  const names = [...r.nodeNames].sort().join(',');
  const kind = r.exclusive ? 'x' : 's';
  return `${partition}|${r.nodeCount}|${resourcesKey(r.perNode)}|${kind}|${labels}|${names}`;
}
