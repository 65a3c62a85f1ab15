// The nodes that can be given work, classed by what they have free: a request is tried once per
// class, not once per node.

import { SortedList } from '../base/sorted-list.ts';
import type { NodeName } from '../model/ids.ts';
import type { ResourceRequest } from '../model/job.ts';
import { fitsIn, type Resources, resourcesKey } from '../model/resources.ts';

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
  if (request.exclusive && !view.idle) return false;
  // Nothing left is how a node looks that belongs to an exclusive task: even a request for nothing
  // stays out.
  if (view.free.cpuCount <= 0 && view.free.memoryBytes <= 0) return false;
  if (!fitsIn(request.perNode, view.free)) return false;
  return request.labels.every((label) => view.labels.has(label));
}

function classKey(view: NodeView): string {
  return `${resourcesKey(view.free)}|${view.idle ? 'i' : 'b'}|${view.labelsKey}`;
}
