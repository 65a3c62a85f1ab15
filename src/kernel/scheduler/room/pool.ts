// The nodes that can be given work, classed by what they have free: a request is tried once per
// class, not once per node.

import { SortedList } from '../../base/sorted-list.ts';
import type { JobId, NodeName, UserName } from '../../model/ids.ts';
import type { ResourceRequest } from '../../model/job.ts';
import { meetsLabel } from '../../model/labels.ts';
import { fitsOneOf, type NodeSize } from '../../model/node-sizes.ts';
import { fitsIn, type Resources, resourcesKey } from '../../model/resources.ts';
import { EndBook, type Later } from './ends.ts';
import { hasRoom } from './profile.ts';

/** What holds a share of a node, for planning ahead. */
export interface Running {
  readonly jobId: JobId;
  readonly index: number;
  readonly resources: Resources;
  /** Null: about to start. */
  readonly startedAt: number | null;
  /** Null when nobody knows when it ends. */
  readonly walltimeMs: number | null;
  /** The reservation that it runs in; null = none. */
  readonly reservation: string | null;
  /** Another task of its job may get its place at any moment, as long as it runs. Absent: none. */
  readonly followed?: true;
  /** On its way out: its share is back in a moment. Absent: no. */
  readonly leaving?: boolean;
  /** Absent: nobody may make it leave. */
  readonly occupant?: Occupant | undefined;
}

/** What is to be known of a task before it may be asked to make room. */
export interface Occupant {
  readonly owner: UserName;
  readonly partition: string;
  readonly qos: string;
  /** How many nodes it has. */
  readonly nodeCount: number;
  /** The task runs, is not stopped yet, and stopping it gives its cpus back. */
  readonly canSuspend: boolean;
  /** False: it must not start a second time, so what would requeue it cancels it. */
  readonly canRequeue: boolean;
}

/** What the scheduler sees of a node that is up, reachable, undrained. Never changed in place. */
export interface NodeView {
  readonly name: NodeName;
  /** Registration order: the order of placement. */
  readonly order: number;
  readonly total: Resources;
  readonly free: Resources;
  readonly gpusFree: readonly number[];
  readonly labels: ReadonlySet<string>;
  /** Sorted and joined, with the sizes: nodes of one class have equal labels. */
  readonly labelsKey: string;
  /** Largest nodes of a site, one of which must hold a part. Absent: it is one node. */
  readonly sizes?: readonly NodeSize[];
  readonly idle: boolean;
  /**
   * What holds its resources; read only during the cycle, and only when planning ahead. When one of
   * them ends earlier than it said, the pool is told (`stir`).
   */
  readonly running: Iterable<Running>;
}

interface NodeClass {
  readonly sample: NodeView;
  readonly nodes: SortedList<NodeView>;
}

/** A request asked before, with the classes that can hold a part of it: kept as nodes change. */
interface KnownRequest {
  readonly request: ResourceRequest;
  readonly classes: Set<NodeClass>;
}

/** Requests remembered: each costs a look whenever a new class of nodes comes up. */
const KNOWN_MAX = 256;

export class NodePool {
  readonly #classes = new Map<string, NodeClass>();
  readonly #views = new Map<NodeName, NodeView>();
  /** Nodes that have changed since somebody began to `watch`. */
  #changed: NodeName[] | null = null;
  /** Looks at classes for what could go there. */
  looks = 0;
  readonly #known = new Map<string, KnownRequest>();
  readonly #ends = new EndBook<NodeView>(this.#views);

  get(name: NodeName): NodeView | undefined {
    return this.#views.get(name);
  }

  /** Adds a node, or replaces what was known of it. */
  set(view: NodeView): void {
    this.remove(view.name);
    this.#views.set(view.name, view);
    const key = classKey(view);
    const known = this.#classes.get(key);
    if (known !== undefined) {
      known.nodes.insert(view);
      return;
    }
    const nodes = new SortedList<NodeView>((a, b) => a.order - b.order);
    nodes.insert(view);
    const fresh = { sample: view, nodes };
    this.#classes.set(key, fresh);
    for (const { request, classes } of this.#known.values()) {
      if (holdsNow(view, request)) classes.add(fresh);
    }
  }

  /** What runs on the node ends otherwise than it said, or has begun to: `running` tells anew. */
  stir(name: NodeName): void {
    this.#changed?.push(name);
    this.#ends.stir(name);
  }

  /** From here on it is known which nodes change, until `unwatch`. */
  watch(): void {
    this.#changed = [];
  }

  unwatch(): void {
    this.#changed = null;
  }

  /** How often nodes have changed since they were watched. */
  get changes(): number {
    return this.#changed?.length ?? 0;
  }

  /** The nodes of these changes but the first few, some of them several times. */
  changedSince(changes: number): readonly NodeName[] {
    return this.#changed?.slice(changes) ?? [];
  }

  get size(): number {
    return this.#views.size;
  }

  /** All nodes, in no order. */
  [Symbol.iterator](): Iterator<NodeView> {
    return this.#views.values();
  }

  names(): Iterable<NodeName> {
    return this.#views.keys();
  }

  remove(name: NodeName): void {
    const view = this.#views.get(name);
    this.stir(name);
    if (view === undefined) return;
    this.#views.delete(name);
    const key = classKey(view);
    const found = this.#classes.get(key) as NodeClass;
    found.nodes.remove(view);
    if (found.nodes.size > 0) return;
    this.#classes.delete(key);
    for (const { classes } of this.#known.values()) classes.delete(found);
  }

  /**
   * Node lists, each in order, of the classes that can hold one node's part of the request now.
   * `key`: equal for equal requests; with it the answer is remembered and kept as nodes change.
   */
  fitting(request: ResourceRequest, key?: string): SortedList<NodeView>[] {
    const known = key === undefined ? undefined : this.#known.get(key);
    const classes = known?.classes ?? this.#classesFor(request, key);
    this.looks += classes.size;
    return Array.from(classes, ({ nodes }) => nodes);
  }

  /** Nodes that could hold a part when empty and cannot now, by when cpus for it are free. */
  later(request: ResourceRequest, key?: string): Iterable<Later<NodeView>> {
    const isAble = (sample: NodeView): boolean => couldEverHold(sample, request);
    const later = this.#ends.later(isAble, request.perNode.cpuCount);
    const known = key === undefined ? undefined : this.#known.get(key);
    return known?.classes.size === 0 ? later : without(later, request);
  }

  #classesFor(request: ResourceRequest, key: string | undefined): Set<NodeClass> {
    const classes = new Set<NodeClass>();
    this.looks += this.#classes.size;
    for (const one of this.#classes.values()) {
      if (holdsNow(one.sample, request)) classes.add(one);
    }
    if (key === undefined) return classes;
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.set(key, { request, classes });
    return classes;
  }
}

function* without(later: Iterable<Later<NodeView>>, request: ResourceRequest) {
  for (const one of later) if (!holdsNow(one.view, request)) yield one;
}

/** Whether the node can take one part of the request at this moment. */
export function holdsNow(view: NodeView, request: ResourceRequest): boolean {
  if (!hasRoom(request.perNode, request.exclusive, view.free, view.idle)) return false;
  if (!fitsOneOf(view.sizes, request.perNode)) return false;
  return request.labels.every((label) => meetsLabel(view.labels, label));
}

/** Whether it could take one part of the request if it were empty. */
export function couldEverHold(view: NodeView, request: ResourceRequest): boolean {
  if (!fitsIn(request.perNode, view.total)) return false;
  if (!fitsOneOf(view.sizes, request.perNode)) return false;
  return request.labels.every((label) => meetsLabel(view.labels, label));
}

function classKey(view: NodeView): string {
  return `${resourcesKey(view.free)}|${view.idle ? 'i' : 'b'}|${view.labelsKey}`;
}
