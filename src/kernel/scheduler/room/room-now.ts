// Where a task could start at this instant.

import type { NodeName } from '../../model/ids.ts';
import { LOOKS_PER_SEARCH } from '../../model/limits.ts';
import { type Ask, namesOf, wantOf } from './ask.ts';
import { cursor, rest } from './cursor.ts';
import type { LaneBook } from './lane-book.ts';
import type { Placement } from './placement.ts';
import { holdsNow, type NodeView } from './pool.ts';
import { endWith, type Prepared, preparedFor } from './prepared.ts';
import { FOREVER } from './profile.ts';
import type { Views } from './views.ts';

/** Ready nodes each looked at; of more, this many that fit are looked through for one. */
const READY_LOOKS_MAX = 64;
const READY_FRONT = 16;

/** The cluster as one cycle sees it. */
interface Ground {
  readonly views: Views;
  readonly lanes: LaneBook;
  readonly order: Placement;
  readonly prepared: Prepared;
  readonly now: number;
}

export class RoomNow {
  readonly #views: Views;
  readonly #lanes: LaneBook;
  readonly #order: Placement;
  readonly #prepared: Prepared;
  readonly #now: number;
  /** At nodes, so far. */
  looks = 0;

  constructor({ views, lanes, order, prepared, now }: Ground) {
    this.#views = views;
    this.#lanes = lanes;
    this.#order = order;
    this.#prepared = prepared;
    this.#now = now;
  }

  /**
   * Nodes where one part each could start now, at most `max`: those that are ready for it first,
   * then the others, each in the order of placement.
   */
  fitting(ask: Ask, max: number): NodeView[] {
    const ready = preparedFor(this.#prepared, ask);
    if (ready === undefined) return this.#fitting(ask, max);
    const first = this.#fittingReady(ready, ask, max);
    if (first.length === max) return first;
    const names = new Set(first.map(({ name }) => name));
    const others = this.#fitting(ask, max + names.size);
    return [...first, ...others.filter(({ name }) => !names.has(name))].slice(0, max);
  }

  /** When many are ready, those are found that are near the front of all that fit. */
  #fittingReady(ready: ReadonlySet<NodeName>, ask: Ask, max: number): NodeView[] {
    if (ready.size > READY_LOOKS_MAX) {
      const front = this.#fitting(ask, Math.max(max, READY_FRONT));
      return front.filter(({ name }) => ready.has(name)).slice(0, max);
    }
    const { nodes, request } = ask;
    const isAllowed = (name: NodeName): boolean =>
      nodes?.has(name) !== false &&
      (request.nodeNames.length === 0 || request.nodeNames.includes(name));
    const names = [...ready].filter(isAllowed);
    return this.#order.first(this.#fittingAmong(names, ask), ask, max);
  }

  #fitting(ask: Ask, max: number): NodeView[] {
    const { request, reservation } = ask;
    const names = namesOf(ask) ?? (reservation === null ? null : this.#lanes.claimed);
    if (names !== null) return this.#order.first(this.#fittingAmong(names, ask), ask, max);
    const isOpen = (view: NodeView): boolean =>
      !this.#lanes.claimed.has(view.name) || this.#fitsNow(view, ask);
    const isUntouched = ({ name }: NodeView): boolean =>
      this.#views.touched.get(name) === undefined;
    const sources = [
      ...this.#views.pool
        .fitting(request, ask.roomKey)
        .map((list) => cursor(list, (view) => isUntouched(view) && isOpen(view))),
      ...this.#views.touched.fitting(request).map((list) => cursor(list, isOpen)),
    ];
    // What speaks for a node by these is not the same within a class of nodes.
    if (ask.placement !== 'pack' && ask.placement !== 'spread') {
      return this.#order.first(sources.flatMap(rest), ask, max);
    }
    const merged = this.#order.merge(sources, ask, max);
    this.looks += sources.length * (merged.length + 1);
    return merged;
  }

  /** Until when it could run if it started now, whatever its time limit is; null: not at all. */
  fitsUntil(ask: Ask): number | null {
    const { request, reservation } = ask;
    const ends: number[] = [];
    for (const { name } of this.#holding(ask)) {
      this.looks += LOOKS_PER_SEARCH;
      const isOpen = reservation === null && !this.#lanes.claimed.has(name);
      const until = isOpen
        ? FOREVER
        : this.#lanes.of(name).fitsUntil(wantOf(request), reservation, this.#now);
      if (until > this.#now) ends.push(until);
    }
    return ends.sort((a, b) => b - a)[request.nodeCount - 1] ?? null;
  }

  /** Nodes with room now, as far as one does not look into their future; in no order. */
  *#holding(ask: Ask): Generator<NodeView> {
    const { request, reservation, roomKey } = ask;
    const names = namesOf(ask) ?? (reservation === null ? null : this.#lanes.claimed);
    for (const name of names ?? []) {
      const view = this.#views.for(name, ask);
      if (view !== undefined && holdsNow(view, request)) yield view;
    }
    if (names !== null) return;
    for (const list of this.#views.pool.fitting(request, roomKey)) {
      for (const view of list) if (this.#views.touched.get(view.name) === undefined) yield view;
    }
    for (const list of this.#views.touched.fitting(request)) yield* list;
  }

  *#fittingAmong(names: Iterable<NodeName>, ask: Ask): Generator<NodeView> {
    for (const name of names) {
      const view = this.#views.for(name, ask);
      if (view !== undefined && this.#fitsNow(view, ask)) yield view;
    }
  }

  #fitsNow(view: NodeView, ask: Ask): boolean {
    this.looks += 1;
    if (!holdsNow(view, ask.request)) return false;
    if (!this.#lanes.claimed.has(view.name)) return ask.reservation === null;
    const lane = this.#lanes.of(view.name);
    const to = endWith(this.#prepared, { lane, ask, at: this.#now });
    return lane.fits(wantOf(ask.request), ask.reservation, this.#now, to);
  }
}
