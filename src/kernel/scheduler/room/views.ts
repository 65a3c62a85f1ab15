// What one cycle has left of each node: what the pool says, less what the cycle has given away.

import type { NodeName } from '../../model/ids.ts';
import { NO_RESOURCES, subtractResources } from '../../model/resources.ts';
import type { Ask } from './ask.ts';
import { NodePool, type NodeView, type Running } from './pool.ts';

/** What takes a share of a node, and which gpus it gets. */
interface Taking {
  readonly one: Running;
  readonly gpus: readonly number[];
}

export class Views {
  readonly pool: NodePool;
  /** Nodes that this cycle has given something of, with what is left. */
  readonly touched = new NodePool();
  /** Nodes that get nothing new, by what is left of them. */
  readonly #closed: Map<NodeName, NodeView>;
  /** What this cycle has started on each node. */
  readonly #taken = new Map<NodeName, Running[]>();

  constructor(pool: NodePool, closed: ReadonlyMap<NodeName, NodeView>) {
    this.pool = pool;
    this.#closed = new Map(closed);
  }

  /** View of a node that this may have: what is not there yet has no closed one. */
  for(name: NodeName, { isThere }: Pick<Ask, 'isThere'>): NodeView | undefined {
    return isThere === true ? this.get(name) : (this.touched.get(name) ?? this.pool.get(name));
  }

  /** View of any node, whoever may have it. */
  get(name: NodeName): NodeView | undefined {
    return this.#closed.get(name) ?? this.touched.get(name) ?? this.pool.get(name);
  }

  /** Takes from the node what this needs, which is all that there is of it if it is exclusive. */
  take(view: NodeView, { one, gpus }: Taking, exclusive: boolean): void {
    const { resources } = one;
    const left: NodeView = {
      ...view,
      free: exclusive ? NO_RESOURCES : subtractResources(view.free, resources),
      gpusFree: gpus.length === 0 ? view.gpusFree : without(view.gpusFree, gpus),
      idle: false,
      running: this.#runningWith(view, one),
    };
    if (this.#closed.has(view.name)) this.#closed.set(view.name, left);
    else this.touched.set(left);
  }

  /** What runs on the node and what this cycle adds, read only by who plans ahead: no copy. */
  #runningWith({ name, running }: NodeView, added: Running): Iterable<Running> {
    const taken = this.#taken.get(name);
    if (taken !== undefined) {
      taken.push(added);
      return running;
    }
    const fresh = [added];
    this.#taken.set(name, fresh);
    return { [Symbol.iterator]: () => inTurn(running, fresh) };
  }
}

function without(all: readonly number[], taken: readonly number[]): readonly number[] {
  return all.filter((number) => !taken.includes(number));
}

/** One after the other, without a copy. */
export function* inTurn<T>(...parts: Iterable<T>[]): Generator<T> {
  for (const part of parts) yield* part;
}
