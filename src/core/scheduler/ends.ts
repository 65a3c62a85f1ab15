// Which nodes can be of use first: all of them by the first end of what they run, kept from cycle to
// cycle, so that planning ahead on 10,000 nodes looks at those few that count.

import { SortedList } from '../base/sorted-list.ts';
import type { NodeName } from '../model/ids.ts';
import { type Resources, resourcesKey } from '../model/resources.ts';
import { UNKNOWN_END } from './profile.ts';

/** What is to be known of a node. */
export interface Occupied {
  readonly name: NodeName;
  readonly order: number;
  readonly total: Resources;
  readonly labelsKey: string;
  readonly running: Iterable<Ending>;
}

interface Ending {
  readonly startedAt: number | null;
  readonly walltimeMs: number | null;
  readonly leaving?: boolean;
}

/** A node, and the instant before which nothing is freed there; 0: any time. */
export interface Later<View> {
  readonly at: number;
  readonly view: View;
}

/** Nodes of equal size and labels. */
interface Kind<View> {
  readonly sample: View;
  readonly nodes: SortedList<Later<View>>;
}

interface Place<View> {
  readonly kind: Kind<View>;
  readonly key: string;
  readonly later: Later<View>;
}

export class EndBook<View extends Occupied> {
  readonly #views: ReadonlyMap<NodeName, View>;
  readonly #kinds = new Map<string, Kind<View>>();
  readonly #places = new Map<NodeName, Place<View>>();
  /** Nodes that have changed since anybody asked: clusters that never plan ahead pay for no more. */
  readonly #stirred = new Set<NodeName>();

  constructor(views: ReadonlyMap<NodeName, View>) {
    this.#views = views;
  }

  stir(name: NodeName): void {
    this.#stirred.add(name);
  }

  /** Nodes of the kinds that are wanted, in order of `at`, then of nodes. */
  later(isWanted: (sample: View) => boolean): Iterable<Later<View>> {
    this.#settle();
    const lists: Iterator<Later<View>>[] = [];
    for (const { sample, nodes } of this.#kinds.values()) {
      if (isWanted(sample)) lists.push(nodes[Symbol.iterator]());
    }
    return lists.length === 1 ? only(lists[0] as Iterator<Later<View>>) : merge(lists);
  }

  #settle(): void {
    for (const name of this.#stirred) {
      this.#forget(name);
      const view = this.#views.get(name);
      if (view !== undefined) this.#add(view);
    }
    this.#stirred.clear();
  }

  #add(view: View): void {
    const key = `${resourcesKey(view.total)}|${view.labelsKey}`;
    let kind = this.#kinds.get(key);
    if (kind === undefined) {
      kind = { sample: view, nodes: new SortedList<Later<View>>(compare) };
      this.#kinds.set(key, kind);
    }
    const later = { at: firstEnd(view.running), view };
    kind.nodes.insert(later);
    this.#places.set(view.name, { kind, key, later });
  }

  #forget(name: NodeName): void {
    const place = this.#places.get(name);
    if (place === undefined) return;
    this.#places.delete(name);
    place.kind.nodes.remove(place.later);
    if (place.kind.nodes.size === 0) this.#kinds.delete(place.key);
  }
}

/** Never after the truth: what has not started, or is leaving, may end at any time. */
function firstEnd(running: Iterable<Ending>): number {
  let first = Number.MAX_SAFE_INTEGER;
  for (const { startedAt, walltimeMs, leaving } of running) {
    if (leaving === true || startedAt === null) return 0;
    first = Math.min(first, walltimeMs === null ? UNKNOWN_END : startedAt + walltimeMs);
  }
  return first;
}

function compare(a: Later<Occupied>, b: Later<Occupied>): number {
  return a.at - b.at || a.view.order - b.view.order;
}

function only<T>(list: Iterator<T>): Iterable<T> {
  return { [Symbol.iterator]: () => list };
}

/** Few lists, each in order. */
function* merge<View extends Occupied>(
  lists: readonly Iterator<Later<View>>[],
): Generator<Later<View>> {
  const heads = lists.map((list) => list.next());
  for (;;) {
    let least = -1;
    heads.forEach((head, at) => {
      if (head.done === true) return;
      const best = heads[least];
      if (best === undefined || compare(head.value, best.value) < 0) least = at;
    });
    const head = heads[least];
    if (head === undefined || head.done === true) return;
    yield head.value;
    heads[least] = (lists[least] as Iterator<Later<View>>).next();
  }
}
