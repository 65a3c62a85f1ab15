// The earliest time at which enough nodes can hold a request together. Nodes are looked at in the
// order in which they could first be of use, and only as many as it takes.

import { Heap } from '../../base/heap.ts';
import { SortedList } from '../../base/sorted-list.ts';
import type { NodeName } from '../../model/ids.ts';
import type { Lane } from './lane.ts';
import { FOREVER, type Want } from './profile.ts';

/** Where and when a task could run. */
export interface Slot {
  readonly at: number;
  readonly lanes: readonly Lane[];
}

/** A node that could be one of those asked for. */
export interface Candidate {
  /** Not before this instant; a lower bound, as other plans may have taken the room meanwhile. */
  at: number;
  readonly order: number;
  readonly name: NodeName;
}

/** What is asked of each node. */
export interface Demand {
  readonly want: Want;
  readonly reservation: string | null;
  readonly durationMs: number;
  readonly nodeCount: number;
}

/** Where candidates come from, and how one is looked at. */
export interface Field {
  /** Nodes to be looked at from the first instant on. */
  readonly ready: readonly Candidate[];
  /** The others, in order of their instants: taken only as far as it goes. */
  readonly later: Iterator<Candidate>;
  readonly laneOf: (name: NodeName) => Lane;
  /** The first instant from this one on at which what is not of a node is there; absent: any. */
  readonly opens?: (at: number) => number;
  /** Whether to give up here; absent: never. */
  readonly isOver?: () => boolean;
}

/**
 * For one demand, asked again and again while plans only ever take room away: each answer is at or
 * after the one before. Cost: O(log nodes) per node that is looked at.
 */
export class SlotFinder {
  readonly #demand: Demand;
  readonly #field: Field;
  #nextLater: IteratorResult<Candidate>;
  /** Looked at before: not before the instant that was found then. */
  readonly #again = new Heap<Candidate>(isBefore);
  /** Candidates whose bound has been reached, in node order. */
  readonly #ready = new SortedList<Candidate>((a, b) => a.order - b.order);
  /** The instant of the last answer. */
  #at = 0;

  constructor(demand: Demand, field: Field) {
    this.#demand = demand;
    this.#field = field;
    this.#nextLater = field.later.next();
    for (const candidate of field.ready) this.#again.push(candidate);
  }

  /** Returns null when never, whatever ends; or `Field.isOver`. */
  find(): Slot | null {
    const { nodeCount } = this.#demand;
    for (;;) {
      if (this.#field.isOver?.() === true) return null;
      const next = this.#nextInstant();
      const at = this.#field.opens?.(next) ?? next;
      if (at === FOREVER) return null;
      this.#makeReady(at);
      this.#at = at;
      if (this.#ready.size < nodeCount) continue;
      const lanes = this.#firstAt(at);
      if (lanes.length === nodeCount) return { at, lanes };
    }
  }

  #nextInstant(): number {
    const later = this.#nextLater.done === true ? FOREVER : this.#nextLater.value.at;
    const next = Math.min(later, this.#again.first?.at ?? FOREVER);
    return this.#ready.size >= this.#demand.nodeCount ? Math.min(this.#at, next) : next;
  }

  #makeReady(at: number): void {
    while ((this.#again.first?.at ?? FOREVER) <= at) {
      this.#ready.insert(this.#again.pop() as Candidate);
    }
    while (this.#nextLater.done !== true && this.#nextLater.value.at <= at) {
      this.#ready.insert(this.#nextLater.value);
      this.#nextLater = this.#field.later.next();
    }
  }

  /** The first lanes in node order that fit at this instant, as many as asked for if there are. */
  #firstAt(at: number): Lane[] {
    const { nodeCount, want, reservation, durationMs } = this.#demand;
    const lanes: Lane[] = [];
    const early: Candidate[] = [];
    for (const candidate of this.#ready) {
      const lane = this.#field.laneOf(candidate.name);
      const earliest = lane.earliest(want, reservation, at, durationMs);
      if (earliest === at) lanes.push(lane);
      else {
        candidate.at = earliest;
        early.push(candidate);
      }
      if (lanes.length === nodeCount) break;
    }
    // Too early: they wait for their next chance.
    for (const candidate of early) {
      this.#ready.remove(candidate);
      if (candidate.at < FOREVER) this.#again.push(candidate);
    }
    return lanes;
  }
}

function isBefore(a: Candidate, b: Candidate): boolean {
  return a.at === b.at ? a.order < b.order : a.at < b.at;
}
