// A search for nodes that a task could have in a moment, if some who run there left: for one kind
// of task in one cycle, asked again and again while the cycle gives nodes away.

import { Heap } from '../../base/heap.ts';
import type { NodeName } from '../../model/ids.ts';
import type { PreemptMode } from '../../model/scheduling.ts';
import type { Ask } from '../room/ask.ts';
import type { Board } from '../room/board.ts';
import type { Gone } from '../room/lane.ts';
import type { Running } from '../room/pool.ts';

/** One node's part of a task that may be made to leave. */
export interface Victim extends Gone {
  readonly key: string;
  readonly name: NodeName;
  readonly mode: Exclude<PreemptMode, 'off'>;
  readonly tier: number;
}

/** A node, and who would have to leave it. */
interface Spot {
  readonly name: NodeName;
  readonly order: number;
  /** All of lower tiers, cheapest first. */
  readonly possible: readonly Victim[];
  /** A smallest set of them that is enough, those who leave anyway left out. */
  readonly needed: readonly Victim[];
  /** The dearest of those needed; undefined = nobody. */
  readonly dearest: Victim | undefined;
}

/** `able`: all nodes that would do if everybody left who could; too few. */
type Found =
  | { readonly names: readonly NodeName[]; readonly victims: readonly Victim[] }
  | { readonly names: null; readonly able: ReadonlySet<NodeName> };

/** Null: it stays whatever happens. */
type VictimOf = (one: Running, name: NodeName) => Victim | null;

const NOBODY: ReadonlySet<string> = new Set();

/** Room for one kind of task, found again and again in one cycle. */
export class RoomSearch {
  readonly #board: Board;
  readonly #ask: Ask;
  readonly #spots = new Map<NodeName, Spot>();
  readonly #heap: Heap<Spot>;
  /** Where each task that could leave is, if it is on several nodes. */
  readonly #places = new Map<string, Map<NodeName, Victim>>();
  readonly #expelled = new Set<string>();

  constructor(board: Board, ask: Ask, victimOf: VictimOf) {
    this.#board = board;
    this.#ask = ask;
    const useful: Spot[] = [];
    for (const { name, order, running } of board.eligible(ask)) {
      const possible: Victim[] = [];
      for (const one of running) {
        // Each costs about as much as a node: there may be many on one.
        board.addWork(1);
        const victim = victimOf(one, name);
        if (victim !== null) possible.push(victim);
      }
      possible.sort(byCost);
      for (const victim of possible) this.#note(victim);
      const spot = this.#look({ name, order, possible, needed: [], dearest: undefined }, NOBODY);
      if (spot !== null) useful.push(spot);
    }
    this.#heap = new Heap<Spot>(isCheaper, useful);
  }

  placesOf(victim: Victim): ReadonlyMap<NodeName, Victim> {
    return this.#places.get(victim.key) ?? new Map([[victim.name, victim]]);
  }

  /** A task leaves, for whomever: its nodes may be cheaper now. */
  expelled(key: string, names: ReadonlySet<NodeName>): void {
    this.#expelled.add(key);
    for (const name of names) {
      const spot = this.#spots.get(name);
      if (spot !== undefined) this.#renew(spot, NOBODY);
    }
  }

  /** The cheapest nodes together. Nothing is changed yet. */
  find(): Found {
    const { nodeCount } = this.#ask.request;
    const chosen = new Map<NodeName, Spot>();
    const leaving = new Map<string, Victim>();
    while (chosen.size < nodeCount) {
      const spot = this.#cheapest(chosen, leaving);
      if (spot === null) break;
      chosen.set(spot.name, spot);
      for (const victim of spot.needed) this.#addLeaving(victim, leaving, chosen);
    }
    const names = this.#fewest(chosen, leaving);
    // What was looked at with others gone is looked at anew: they may not go after all.
    const seen = new Set(chosen.keys());
    for (const victim of leaving.values()) {
      for (const [name] of this.placesOf(victim)) seen.add(name);
    }
    for (const name of seen) this.#renew(this.#spots.get(name) ?? chosen.get(name), NOBODY);
    if (names === null) return { names: null, able: new Set(chosen.keys()) };
    return { names, victims: [...leaving.values()] };
  }

  #addLeaving(victim: Victim, leaving: Map<string, Victim>, chosen: Map<NodeName, Spot>): void {
    leaving.set(victim.key, victim);
    for (const [name] of this.placesOf(victim)) {
      const spot = this.#spots.get(name);
      if (spot !== undefined && !chosen.has(name)) this.#renew(spot, new Set(leaving.keys()));
    }
  }

  /** Takes the first spot whose cost is still what it was. */
  #cheapest(chosen: ReadonlyMap<NodeName, Spot>, leaving: ReadonlyMap<string, Victim>) {
    for (let spot = this.#heap.pop(); spot !== undefined; spot = this.#heap.pop()) {
      if (this.#spots.get(spot.name) !== spot || chosen.has(spot.name)) continue;
      const gone = spot.possible.filter(({ key }) => leaving.has(key));
      if (this.#fits(spot, [...gone, ...spot.needed])) return spot;
      this.#renew(spot, new Set(leaving.keys()));
    }
    return null;
  }

  /** Lets stay whoever need not go, the dearest first; the nodes that are enough then, or null. */
  #fewest(chosen: ReadonlyMap<NodeName, Spot>, leaving: Map<string, Victim>) {
    const spots = new Set(chosen.values());
    for (const victim of leaving.values()) {
      for (const [name] of this.placesOf(victim)) {
        const spot = chosen.get(name) ?? this.#spots.get(name);
        if (spot !== undefined) spots.add(spot);
      }
    }
    let names = this.#enough(spots, leaving);
    if (names === null) return null;
    for (const victim of [...leaving.values()].sort(byCost).reverse()) {
      leaving.delete(victim.key);
      const fewer = this.#enough(spots, leaving);
      if (fewer === null) leaving.set(victim.key, victim);
      else names = fewer;
    }
    return names;
  }

  #enough(spots: Iterable<Spot>, leaving: ReadonlyMap<string, Victim>): NodeName[] | null {
    const { nodeCount } = this.#ask.request;
    const names: NodeName[] = [];
    for (const spot of spots) {
      const gone = spot.possible.filter(({ key }) => leaving.has(key));
      if (this.#fits(spot, gone)) names.push(spot.name);
      if (names.length === nodeCount) return names;
    }
    return null;
  }

  #renew(spot: Spot | undefined, leaving: ReadonlySet<string>): void {
    if (spot === undefined) return;
    this.#spots.delete(spot.name);
    const fresh = this.#look(spot, leaving);
    if (fresh !== null) this.#heap.push(fresh);
  }

  /** The tasks that have to leave the node, if these leave anyway. Null: no leaving helps. */
  #look(spot: Spot, leaving: ReadonlySet<string>): Spot | null {
    const possible = spot.possible.filter(({ key }) => !this.#expelled.has(key));
    const needed = this.#least({ ...spot, possible }, leaving);
    // Kept all the same: what others give up may make it do.
    const dearest = needed?.reduce((a, b) => (byCost(a, b) < 0 ? b : a), needed[0] as Victim);
    const fresh = { ...spot, possible, needed: needed ?? [], dearest };
    this.#spots.set(spot.name, fresh);
    return needed === null ? null : fresh;
  }

  #least(spot: Spot, leaving: ReadonlySet<string>): Victim[] | null {
    const gone = spot.possible.filter(({ key }) => leaving.has(key));
    if (this.#fits(spot, gone)) return [];
    if (!this.#fits(spot, spot.possible)) return null;
    let needed: Victim[] = [];
    for (const victim of spot.possible) {
      if (leaving.has(victim.key)) continue;
      needed.push(victim);
      if (this.#fits(spot, [...gone, ...needed])) break;
    }
    for (const victim of [...needed].reverse()) {
      const fewer = needed.filter((one) => one !== victim);
      if (this.#fits(spot, [...gone, ...fewer])) needed = fewer;
    }
    return needed;
  }

  #fits({ name }: Spot, gone: readonly Gone[]): boolean {
    return this.#board.fitsWithout(name, this.#ask, gone);
  }

  #note(victim: Victim): void {
    if (victim.one.occupant?.nodeCount === 1) return;
    let places = this.#places.get(victim.key);
    if (places === undefined) {
      places = new Map();
      this.#places.set(victim.key, places);
    }
    places.set(victim.name, victim);
  }
}

function startOf({ one }: Victim): number {
  return one.startedAt ?? Infinity;
}

/** Least tier, then youngest; by id so that it is the same every time. */
function byCost(a: Victim, b: Victim): number {
  if (a.tier !== b.tier) return a.tier - b.tier;
  if (startOf(a) !== startOf(b)) return startOf(a) > startOf(b) ? -1 : 1;
  return b.one.jobId - a.one.jobId || b.one.index - a.one.index;
}

/** By the dearest who leaves, then by how many. */
function isCheaper(a: Spot, b: Spot): boolean {
  const { dearest: ofA } = a;
  const { dearest: ofB } = b;
  if (ofA === undefined || ofB === undefined) {
    return ofA === ofB ? a.order < b.order : ofA === undefined;
  }
  if (ofA.key !== ofB.key) return byCost(ofA, ofB) < 0;
  if (a.needed.length !== b.needed.length) return a.needed.length < b.needed.length;
  return a.order < b.order;
}
