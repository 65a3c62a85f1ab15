// The earliest time at which enough nodes can hold a request together. Nodes are looked at in the
// order in which they could first be of use, and only as many as it takes.

import { Heap } from '../base/heap.ts';
import type { Lane } from './lane.ts';
import { FOREVER, type Want } from './profile.ts';

/** Where and when a task could run. */
export interface Slot {
  readonly at: number;
  readonly lanes: readonly Lane[];
}

/** A node that could be one of those asked for. */
export interface Candidate {
  /** Not before this instant; a lower bound, since other plans may have taken the room meanwhile. */
  at: number;
  readonly order: number;
  readonly lane: () => Lane;
}

/** What is asked of each node. */
export interface Demand {
  readonly want: Want;
  readonly reservation: string | null;
  readonly durationMs: number;
  readonly nodeCount: number;
}

/**
 * For one demand, asked again and again while plans only ever take room away: each answer is at or
 * after the one before. Cost: O(log nodes) per node that is looked at.
 */
export class SlotFinder {
  readonly #demand: Demand;
  readonly #later: Heap<Candidate>;
  /** Candidates whose bound has been reached, in node order when chosen from. */
  #ready: Candidate[] = [];
  /** Of the last answer. */
  #at = 0;

  constructor(demand: Demand, candidates: Candidate[]) {
    this.#demand = demand;
    this.#later = new Heap<Candidate>(isBefore, candidates);
  }

  /** Null: never, whatever ends. */
  find(): Slot | null {
    const { nodeCount } = this.#demand;
    for (;;) {
      const at = this.#nextInstant();
      if (at === FOREVER) return null;
      while ((this.#later.first?.at ?? FOREVER) <= at)
        this.#ready.push(this.#later.pop() as Candidate);
      if (this.#ready.length < nodeCount) {
        this.#at = at;
        continue;
      }
      this.#ready = this.#ready.filter((candidate) => this.#isReadyAt(candidate, at));
      this.#at = at;
      if (this.#ready.length < nodeCount) continue;
      const chosen = [...this.#ready].sort((a, b) => a.order - b.order).slice(0, nodeCount);
      return { at, lanes: chosen.map((candidate) => candidate.lane()) };
    }
  }

  #nextInstant(): number {
    const next = this.#later.first?.at ?? FOREVER;
    return this.#ready.length >= this.#demand.nodeCount ? Math.min(this.#at, next) : next;
  }

  /** Still true now? Otherwise it waits for its next chance. */
  #isReadyAt(candidate: Candidate, at: number): boolean {
    const { want, reservation, durationMs } = this.#demand;
    const earliest = candidate.lane().earliest(want, reservation, at, durationMs);
    if (earliest === at) return true;
    candidate.at = earliest;
    if (earliest < FOREVER) this.#later.push(candidate);
    return false;
  }
}

function isBefore(a: Candidate, b: Candidate): boolean {
  return a.at === b.at ? a.order < b.order : a.at < b.at;
}
