// What one node has free over time: a step function from now on. Planning ahead is asking it when
// a share fits, and taking the share out of it.

import { assert } from '../../base/assert.ts';
import { ANY_KIND, type Cards, holdsCards, leastOf } from '../../model/cards.ts';
import {
  addResources,
  canHoldAny,
  fitsIn,
  isShared,
  type Resources,
  subtractResources,
} from '../../model/resources.ts';

/** Later than any time limit can end: the end of what has no end. */
export const FOREVER = Number.MAX_SAFE_INTEGER;
/** When a task without time limit is taken to end: after all that is planned, before `FOREVER`. */
export const UNKNOWN_END = FOREVER / 2;

/** A demand on one node. */
export interface Want {
  readonly resources: Resources;
  /** Nothing else may be on the node meanwhile. */
  readonly exclusive: boolean;
}

/** Something that is on the node now, and when it gives its share back. */
export interface ShareEnd {
  readonly at: number;
  readonly resources: Resources;
}

/** Steps: from `at[i]` until `at[i + 1]`, the last one for ever. Times in ms since 1970. */
export class Profile {
  readonly #at: number[];
  readonly #free: Resources[];
  /** How many tasks or claims are on the node; 0 = it could be had whole. */
  readonly #users: number[];

  /** What is free now, and what each that uses the node gives back when. */
  constructor(now: number, free: Resources, endings: readonly ShareEnd[] = []) {
    this.#at = [now];
    this.#free = [free];
    this.#users = [endings.length];
    // In order, so that a node of a thousand tasks costs a thousand steps, not a million.
    for (const { at, resources } of [...endings].sort((a, b) => a.at - b.at)) {
      const step = this.#split(Math.max(at, now));
      this.#free[step] = addResources(this.#free[step] as Resources, resources);
      this.#users[step] = (this.#users[step] as number) - 1;
    }
  }

  /**
   * Takes the share from `from` until `to`. May take more than there is: nothing fits there then.
   * `counts`: it is one more on the node.
   */
  take(resources: Resources, from: number, to: number, counts = true): void {
    const [first, end] = this.#span(from, to);
    for (let step = first; step < end; step += 1) {
      this.#free[step] = subtractResources(this.#free[step] as Resources, resources);
      if (counts) this.#users[step] = (this.#users[step] as number) + 1;
    }
  }

  /** Makes the share free from `from` until `to`; `users`: how many more, or fewer, are there. */
  give(resources: Resources, from: number, to: number, users = 0): void {
    const [first, end] = this.#span(from, to);
    for (let step = first; step < end; step += 1) {
      this.#free[step] = addResources(this.#free[step] as Resources, resources);
      this.#users[step] = (this.#users[step] as number) + users;
    }
  }

  /** What is free at that instant. */
  freeAt(at: number): Resources {
    return this.#free[this.#stepAt(at)] as Resources;
  }

  /** Whether the want fits at every instant of [from, to). */
  fits(want: Want, from: number, to: number): boolean {
    return this.#misfit(want, from, to) === -1;
  }

  /** The first instant from which on it does not fit any more; `FOREVER` if none. */
  fitsUntil(want: Want, from: number): number {
    const misfit = this.#misfit(want, from, FOREVER);
    return misfit === -1 ? FOREVER : Math.max(from, this.#at[misfit] as number);
  }

  /** The first instant at or after `from` at which it fits for `durationMs`; `FOREVER` if never. */
  earliest(want: Want, from: number, durationMs: number): number {
    let start = from;
    for (;;) {
      const end = durationMs >= FOREVER ? FOREVER : start + durationMs;
      const misfit = this.#misfit(want, start, end);
      if (misfit === -1) return start;
      // The next step that is large enough; the steps between are not worth a look, unless this one
      // would do by itself.
      let next = this.#holds(misfit, want) ? this.#stepAt(start) + 1 : misfit + 1;
      while (next < this.#at.length && !this.#holds(next, want)) next += 1;
      if (next >= this.#at.length) return FOREVER;
      start = this.#at[next] as number;
    }
  }

  /** What is left of each card at every instant of [from, to); undefined: they are only counted. */
  cardsWithin(from: number, to: number): Cards | undefined {
    let common: Cards | undefined;
    for (let step = this.#stepAt(from); step < this.#at.length; step += 1) {
      if ((this.#at[step] as number) >= to) break;
      const { cards } = this.#free[step] as Resources;
      if (cards !== undefined) common = leastOf(common, cards);
    }
    return common;
  }

  /** Index of the first step of [from, to) that is too small or has other cards free; else -1. */
  #misfit(want: Want, from: number, to: number): number {
    const { gpuCount, gpuKind } = want.resources;
    let common: Cards | undefined;
    for (let step = this.#stepAt(from); step < this.#at.length; step += 1) {
      if ((this.#at[step] as number) >= to) return -1;
      if (!this.#holds(step, want)) return step;
      const { cards } = this.#free[step] as Resources;
      if (gpuCount === 0 || cards === undefined) continue;
      // Of cards that are alike it does not matter which are free: somebody else gets the others.
      if (cards.deck.isUniform && !isShared(gpuKind)) continue;
      common = leastOf(common, cards);
      if (!holdsCards(common, gpuCount, gpuKind ?? ANY_KIND)) return step;
    }
    return -1;
  }

  #holds(step: number, want: Want): boolean {
    const free = this.#free[step] as Resources;
    return hasRoom(want.resources, want.exclusive, free, this.#users[step] === 0);
  }

  /** The steps of [from, to), made to begin and end there. */
  #span(from: number, to: number): readonly [first: number, end: number] {
    const start = Math.max(from, this.#at[0] as number);
    if (to <= start) return [0, 0];
    const first = this.#split(start);
    return [first, to >= FOREVER ? this.#at.length : this.#split(to)];
  }

  /** Makes a step begin at `at`, and says which. */
  #split(at: number): number {
    const step = this.#stepAt(at);
    if (this.#at[step] === at) return step;
    this.#at.splice(step + 1, 0, at);
    this.#free.splice(step + 1, 0, this.#free[step] as Resources);
    this.#users.splice(step + 1, 0, this.#users[step] as number);
    return step + 1;
  }

  /** The step that holds at this instant. */
  #stepAt(at: number): number {
    assert(at >= (this.#at[0] as number), 'a profile knows nothing of the past');
    let low = 0;
    let high = this.#at.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#at[middle] as number) <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** Whether what is free takes what is wanted. */
export function hasRoom(
  wanted: Resources,
  exclusive: boolean,
  free: Resources,
  idle: boolean,
): boolean {
  if (exclusive && !idle) return false;
  return canHoldAny(free) && fitsIn(wanted, free);
}
