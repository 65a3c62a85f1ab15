// Finding nodes for one task: all of them or none, first in node order. Placements of the same
// cycle are laid over the pool, which itself never changes here.

import type { NodeName } from '../model/ids.ts';
import type { ResourceRequest } from '../model/job.ts';
import type { Share } from '../model/orders.ts';
import { NO_RESOURCES, subtractResources } from '../model/resources.ts';
import { holdsNow, NodePool, type NodeView } from './pool.ts';

export class Placement {
  readonly #pool: NodePool;
  /** Nodes that this cycle has already given something of, with what is left. */
  readonly #touched = new NodePool();

  constructor(pool: NodePool) {
    this.#pool = pool;
  }

  /** The shares in rank order, or null when the nodes that fit are too few. */
  place(request: ResourceRequest): readonly Share[] | null {
    const nodes = this.#choose(request);
    if (nodes.length < request.nodeCount) return null;
    return nodes.map((view) => this.#take(view, request));
  }

  /** How many nodes could take a part of it now, up to what is asked. */
  count(request: ResourceRequest): number {
    return this.#choose(request).length;
  }

  #choose(request: ResourceRequest): NodeView[] {
    if (request.nodeNames.length > 0) return this.#chooseNamed(request);
    const chosen: NodeView[] = [];
    const sources = [
      ...this.#pool
        .fitting(request)
        .map((nodes) => cursor(nodes, (view) => this.#touched.get(view.name) === undefined)),
      ...this.#touched.fitting(request).map((nodes) => cursor(nodes, () => true)),
    ];
    while (chosen.length < request.nodeCount) {
      let best: Cursor | undefined;
      for (const source of sources) {
        if (source.head !== undefined && source.head.order < (best?.head?.order ?? Infinity)) {
          best = source;
        }
      }
      if (best?.head === undefined) break;
      chosen.push(best.head);
      best.advance();
    }
    return chosen;
  }

  #chooseNamed(request: ResourceRequest): NodeView[] {
    return request.nodeNames
      .map((name) => this.#view(name))
      .filter((view) => view !== undefined)
      .filter((view) => holdsNow(view, request))
      .sort((a, b) => a.order - b.order)
      .slice(0, request.nodeCount);
  }

  #view(name: NodeName): NodeView | undefined {
    return this.#touched.get(name) ?? this.#pool.get(name);
  }

  #take(view: NodeView, request: ResourceRequest): Share {
    const resources = request.exclusive ? view.total : request.perNode;
    const gpus = view.gpusFree.slice(0, resources.gpuCount);
    this.#touched.set({
      ...view,
      free: request.exclusive ? NO_RESOURCES : subtractResources(view.free, resources),
      gpusFree: view.gpusFree.slice(resources.gpuCount),
      idle: false,
    });
    return { node: view.name, resources, gpus };
  }
}

interface Cursor {
  readonly head: NodeView | undefined;
  advance(): void;
}

function cursor(nodes: Iterable<NodeView>, wanted: (view: NodeView) => boolean): Cursor {
  const iterator = nodes[Symbol.iterator]();
  const next = (): NodeView | undefined => {
    for (let step = iterator.next(); step.done !== true; step = iterator.next()) {
      if (wanted(step.value)) return step.value;
    }
    return undefined;
  };
  let head = next();
  return {
    get head() {
      return head;
    },
    advance() {
      head = next();
    },
  };
}
