// Which nodes can be of use first: all of them by when enough of their cpus have been freed, kept
// from cycle to cycle, so that planning ahead on 10,000 nodes looks at those few that count.

import { SortedList } from '../../base/sorted-list.ts';
import type { NodeName } from '../../model/ids.ts';
import { type Resources, resourcesKey } from '../../model/resources.ts';
import { UNKNOWN_END } from './profile.ts';

/** What is to be known of a node. */
export interface Occupied {
  readonly name: NodeName;
  readonly order: number;
  readonly total: Resources;
  readonly free: Resources;
  readonly labelsKey: string;
  readonly running: Iterable<EndingShare>;
}

interface EndingShare {
  readonly resources: Resources;
  readonly startedAt: number | null;
  readonly followed?: true;
  readonly walltimeMs: number | null;
  readonly leaving?: boolean;
}

/** A node, and the instant before which not enough is freed there; 0: any time. */
export interface Later<View> {
  readonly at: number;
  readonly view: View;
}

/** Nodes of equal size and labels. */
interface Kind<View> {
  readonly sample: View;
  readonly nodes: SortedList<Later<View>>;
}

interface TreePosition<View> {
  readonly kind: Kind<View>;
  readonly key: string;
  readonly later: Later<View>;
}

/**
 * One table per power of two of cpus and per one and a half of it, made when it is first asked
 * for: a task of 40 cpus looks at nodes in the order in which 32 are free, not in that of their
 * first small end.
 */
export class EndBook<View extends Occupied> {
  readonly #views: ReadonlyMap<NodeName, View>;
  readonly #tables = new Map<number, EndTable<View>>();

  constructor(views: ReadonlyMap<NodeName, View>) {
    this.#views = views;
  }

  /** The node has changed. Clusters that never plan ahead have no tables and pay nothing. */
  stir(name: NodeName): void {
    for (const table of this.#tables.values()) table.stir(name);
  }

  /** Nodes of the kinds that are wanted, in order of `at`, then of nodes. */
  later(isWanted: (sample: View) => boolean, cpuCount: number): Iterable<Later<View>> {
    const step = stepOf(cpuCount);
    let table = this.#tables.get(step);
    if (table === undefined) {
      table = new EndTable(this.#views, step);
      this.#tables.set(step, table);
    }
    return table.later(isWanted);
  }
}

/** The greatest of 0, 1, 1.5, 2, 3, 4, 6, 8, 12, … that is not more. */
function stepOf(cpuCount: number): number {
  if (cpuCount < 1) return 0;
  const power = 2 ** Math.floor(Math.log2(cpuCount));
  return cpuCount >= 1.5 * power ? 1.5 * power : power;
}

class EndTable<View extends Occupied> {
  readonly #views: ReadonlyMap<NodeName, View>;
  readonly #cpuCount: number;
  readonly #kinds = new Map<string, Kind<View>>();
  readonly #places = new Map<NodeName, TreePosition<View>>();
  /** Nodes that have changed since anybody asked. */
  readonly #stirred: Set<NodeName>;

  constructor(views: ReadonlyMap<NodeName, View>, cpuCount: number) {
    this.#views = views;
    this.#cpuCount = cpuCount;
    this.#stirred = new Set(views.keys());
  }

  stir(name: NodeName): void {
    this.#stirred.add(name);
  }

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
    const later = { at: freedAt(view, this.#cpuCount), view };
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

/**
 * When something has ended and this many cpus are free, and never after that: what has not started,
 * or is leaving, may end at any time.
 */
function freedAt({ free, running }: Occupied, cpuCount: number): number {
  const freed = new Map<number, number>();
  for (const one of running) {
    const at = latestEndOf(one);
    freed.set(at, (freed.get(at) ?? 0) + one.resources.cpuCount);
  }
  let cpus = free.cpuCount;
  for (const at of [...freed.keys()].sort((a, b) => a - b)) {
    cpus += freed.get(at) ?? 0;
    if (cpus >= cpuCount) return at;
  }
  return Number.MAX_SAFE_INTEGER;
}

function latestEndOf({ startedAt, walltimeMs, leaving, followed }: EndingShare): number {
  if (leaving === true || followed || startedAt === null) return 0;
  return walltimeMs === null ? UNKNOWN_END : startedAt + walltimeMs;
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
