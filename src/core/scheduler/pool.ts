// The nodes that can be given work, classed by what they have free: a request is tried once per
// class, not once per node.

import { SortedList } from '../base/sorted-list.ts';
import type { JobId, NodeName } from '../model/ids.ts';
import type { ResourceRequest } from '../model/job.ts';
import { meetsLabel } from '../model/labels.ts';
import { fitsIn, type Resources, resourcesKey } from '../model/resources.ts';

/** What holds a share of a node, for planning ahead. */
export interface Running {
  readonly jobId: JobId;
  readonly index: number;
  readonly resources: Resources;
  /** Null: about to start. */
  readonly startedAt: number | null;
  /** Null: nobody knows when it ends. */
  readonly walltimeMs: number | null;
  /** The reservation that it runs in; null = none. */
  readonly reservation: string | null;
  /** On its way out: its share is back in a moment. Absent: no. */
  readonly leaving?: boolean;
  /** Absent: nobody may make it leave. */
  readonly occupant?: Occupant;
}

/** What is to be known of a task before it may be asked to make room. */
export interface Occupant {
  readonly partition: string;
  readonly qos: string;
  /** It runs, is not stopped yet, and stopping it gives its cpus back. */
  readonly canSuspend: boolean;
  /** False: it must not start a second time, so what would requeue it cancels it. */
  readonly canRequeue: boolean;
}

/** What the scheduler sees of a node that is up, reachable and not drained. Never changed in place. */
export interface NodeView {
  readonly name: NodeName;
  /** Registration order: the order of placement. */
  readonly order: number;
  readonly total: Resources;
  readonly free: Resources;
  readonly gpusFree: readonly number[];
  readonly labels: ReadonlySet<string>;
  /** Sorted and joined: nodes of one class have equal labels. */
  readonly labelsKey: string;
  readonly idle: boolean;
  /** What holds its resources; read only during the cycle, and only when planning ahead. */
  readonly running: Iterable<Running>;
}

interface NodeClass {
  readonly sample: NodeView;
  readonly nodes: SortedList<NodeView>;
}

export class NodePool {
  readonly #classes = new Map<string, NodeClass>();
  readonly #views = new Map<NodeName, NodeView>();

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
    this.#classes.set(key, { sample: view, nodes });
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
    if (view === undefined) return;
    this.#views.delete(name);
    const key = classKey(view);
    const found = this.#classes.get(key) as NodeClass;
    found.nodes.remove(view);
    if (found.nodes.size === 0) this.#classes.delete(key);
  }

  /** Node lists, each in order, of the classes that can hold one node's part of the request now. */
  fitting(request: ResourceRequest): SortedList<NodeView>[] {
    const lists: SortedList<NodeView>[] = [];
    for (const { sample, nodes } of this.#classes.values()) {
      if (holdsNow(sample, request)) lists.push(nodes);
    }
    return lists;
  }
}

/** Whether the node can take one part of the request at this moment. */
export function holdsNow(view: NodeView, request: ResourceRequest): boolean {
  if (!hasRoom(request.perNode, request.exclusive, view.free, view.idle)) return false;
  return request.labels.every((label) => meetsLabel(view.labels, label));
}

/** Whether what is free takes what is wanted. */
export function hasRoom(
  wanted: Resources,
  exclusive: boolean,
  free: Resources,
  idle: boolean,
): boolean {
  if (exclusive && !idle) return false;
  // Nothing left is how a node looks that belongs to an exclusive task: even a request for nothing
  // stays out.
  if (free.cpuCount <= 0 && free.memoryBytes <= 0) return false;
  return fitsIn(wanted, free);
}

function classKey(view: NodeView): string {
  return `${resourcesKey(view.free)}|${view.idle ? 'i' : 'b'}|${view.labelsKey}`;
}
