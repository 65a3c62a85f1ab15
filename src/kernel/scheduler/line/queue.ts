// What waits for resources, in order. Jobs with equal requests of one user share a group, so that a
// request that does not fit is asked once a cycle however many tasks wait with it.

import { assert } from '../../base/assert.ts';
import type { IntervalSet } from '../../base/interval-set.ts';
import { SortedList } from '../../base/sorted-list.ts';
import type { JobId, UserName } from '../../model/ids.ts';
import type { ResourceRequest } from '../../model/job.ts';
import { countedKey, resourcesKey } from '../../model/resources.ts';
import { DEFAULT_WEIGHTS, type Weights } from '../../model/scheduling.ts';
import { needsGpus } from './gpus.ts';
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
  /** Hash of the list of its inputs; absent: it has none. */
  readonly inputs?: string;
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
  /** Like `key`, whatever the time limit: what does not fit for an hour does not for two. */
  readonly anyTimeKey: string;
}

export interface ShapeParts {
  readonly partition: string;
  readonly request: ResourceRequest;
  /** With what a build may take before. */
  readonly walltimeMs: number | null;
  /** What of that is for a build. Absent: nothing. */
  readonly buildMs?: number;
  /** The reservation asked for by name. */
  readonly reservation: string | null;
}

/** Entries that stand or fall together: one user's shape, or one array with a running limit. */
export interface Group {
  readonly key: string;
  readonly shape: Shape;
  readonly owner: UserName;
  readonly qos: string;
  readonly entries: SortedList<QueueEntry>;
  readonly band: Band;
}

/** Groups that get the same points besides those of their jobs: their order never changes. */
export interface Band {
  readonly key: string;
  readonly owner: UserName;
  readonly qos: string;
  readonly partition: string;
  /** Node count of each group, if size counts. */
  readonly nodeCount: number;
  /** By their first entries. */
  readonly groups: SortedList<Group>;
}

export class Queue {
  readonly groups = new Map<string, Group>();
  /** Those of them that need gpus. */
  readonly gpuGroups = new Set<Group>();
  readonly #bands = new Map<string, Band>();
  #weights = DEFAULT_WEIGHTS;
  #size = 0;
  #arrivals: Set<QueueEntry> | null = null;

  /** Entries, not tasks. */
  get size(): number {
    return this.#size;
  }

  /** All groups, those of a band in order: kept as entries come and go. */
  get bands(): Iterable<Band> {
    return this.#bands.values();
  }

  /** What has come since `watch`, some of it gone again. */
  get arrivals(): Iterable<QueueEntry> {
    return this.#arrivals ?? [];
  }

  /** Begins a new list of arrivals. Nobody reads them but cycles that go on: else `unwatch`. */
  watch(): void {
    this.#arrivals = new Set();
  }

  unwatch(): void {
    this.#arrivals = null;
  }

  /** Orders anew by other weights. Cheap when they are the same object as before. */
  weigh(weights: Weights): void {
    if (weights === this.#weights) return;
    this.#weights = weights;
    const entries = [...this.groups.values()].flatMap((group) => [...group.entries]);
    this.groups.clear();
    this.gpuGroups.clear();
    this.#bands.clear();
    this.#size = 0;
    for (const entry of entries) this.#insert(entry);
  }

  add(entry: QueueEntry): void {
    this.#arrivals?.add(entry);
    this.#insert(entry);
  }

  #insert(entry: QueueEntry): void {
    assert(entry.pending.size > 0, `job ${entry.jobId} has something to start`);
    const key = groupKey(entry);
    let group = this.groups.get(key);
    if (group === undefined) {
      const { shape, owner, qos } = entry;
      const band = this.#bandOf(entry);
      group = { key, shape, owner, qos, entries: new SortedList(this.#compare), band };
      this.groups.set(key, group);
      if (needsGpus(shape.request)) this.gpuGroups.add(group);
    }
    this.#size += 1;
    const { entries, band } = group;
    const { first } = entries;
    if (first !== undefined && this.#compare(first, entry) < 0) return entries.insert(entry);
    if (first !== undefined) band.groups.remove(group);
    entries.insert(entry);
    band.groups.insert(group);
  }

  remove(entry: QueueEntry): void {
    const key = groupKey(entry);
    const group = this.groups.get(key);
    assert(group !== undefined, `job ${entry.jobId} is queued`);
    this.#size -= 1;
    const { entries, band } = group;
    if (entries.first !== entry) return entries.remove(entry);
    band.groups.remove(group);
    entries.remove(entry);
    if (entries.size > 0) return band.groups.insert(group);
    this.groups.delete(key);
    this.gpuGroups.delete(group);
    if (band.groups.size === 0) this.#bands.delete(band.key);
  }

  /** The group in which the entry waits; undefined when it does not. */
  groupOf(entry: QueueEntry): Group | undefined {
    const group = this.groups.get(groupKey(entry));
    return group?.entries.has(entry) === true ? group : undefined;
  }

  #bandOf({ owner, qos, shape }: QueueEntry): Band {
    const { partition } = shape;
    const nodeCount = this.#weights.size === 0 ? 1 : shape.request.nodeCount;
    const key = `${partition}!${qos}!${owner}!${nodeCount}`;
    let band = this.#bands.get(key);
    if (band === undefined) {
      const groups = new SortedList<Group>((a, b) =>
        this.#compare(a.entries.first as QueueEntry, b.entries.first as QueueEntry),
      );
      band = { key, owner, qos, partition, nodeCount, groups };
      this.#bands.set(key, band);
    }
    return band;
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
  #last: { readonly parts: ShapeParts; readonly shape: Shape } | null = null;

  of(parts: ShapeParts): Shape {
    // Jobs that come by thousands ask for the same, and share what they ask for.
    const last = this.#last;
    if (last !== null && areSame(last.parts, parts)) return last.shape;
    const shape = this.#find(parts);
    this.#last = { parts, shape };
    return shape;
  }

  #find(parts: ShapeParts): Shape {
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

/** By the very request: one that is equal is found by its key. */
function areSame(a: ShapeParts, b: ShapeParts): boolean {
  if (a.request !== b.request || a.partition !== b.partition) return false;
  const isSameTime = a.walltimeMs === b.walltimeMs && a.buildMs === b.buildMs;
  return isSameTime && a.reservation === b.reservation;
}

function shapeKey({ partition, request: r, reservation }: ShapeParts): string {
  const labels = [...r.labels].sort().join(',');
  const names = [...r.nodeNames].sort().join(',');
  const ofCluster = r.ofCluster === undefined ? '' : `+${countedKey(r.ofCluster)}`;
  const kind = (r.exclusive ? 'x' : 's') + ofCluster;
  const where = `${partition}|${reservation ?? ''}`;
  return `${where}|${r.nodeCount}|${resourcesKey(r.perNode)}|${kind}|${labels}|${names}`;
}
