// One cycle's working view of the cluster: what the pool has free, less what this cycle has given
// away, less what is set aside for later. The pool itself never changes here.

import { type Cards, leastOf, typesOf } from '../../model/cards.ts';
import type { JobId, NodeName } from '../../model/ids.ts';
import type { ResourceRequest } from '../../model/job.ts';
import type { Share } from '../../model/orders.ts';
import { plainAmounts } from '../../model/resources.ts';
import { siteRuleOf } from '../../model/scheduling.ts';
import { type Ask, endAt, namesOf, takenAtStart, takenOf, wantOf } from './ask.ts';
import type { Brokerage, Choice } from './brokerage.ts';
import { ClusterRoom, type ClusterStock, NO_STOCK } from './cluster-room.ts';
import { demandOf, fieldOf } from './field.ts';
import { fitsAfter, type Gone, type Lane, latestEndOf, type Window } from './lane.ts';
import { LaneBook } from './lane-book.ts';
import { Placement } from './placement.ts';
import { couldEverHold, holdsNow, type NodePool, type NodeView } from './pool.ts';
import { endWith, NOTHING_PREPARED, type Prepared, walltimeOn } from './prepared.ts';
import { UNKNOWN_END } from './profile.ts';
import { RoomNow } from './room-now.ts';
import { type Slot, SlotFinder } from './slots.ts';
import { inTurn, Views } from './views.ts';

/** The task that takes a share: what a later plan must know of it. */
export interface Taker {
  readonly jobId: JobId;
  readonly index: number;
}

export interface BoardOptions {
  readonly pool: NodePool;
  /** `Snapshot.closed`; absent = none. */
  readonly closed?: ReadonlyMap<NodeName, NodeView>;
  readonly windows: readonly Window[];
  readonly now: number;
  /** Load average per cpu, for `least_loaded`; absent = 0. */
  readonly loads?: ReadonlyMap<NodeName, number>;
  /** What sites are compared by; absent: nothing is known of any. */
  readonly brokerage?: Brokerage;
  /** `Snapshot.prepared`. */
  readonly prepared?: Prepared;
  /** Counted resources of the whole cluster; absent: there are none. */
  readonly stock?: ClusterStock;
  /**
   * Set for a forecast: what is promised without a time limit ends when such tasks that run do,
   * instead of never, and slots are looked for until so many looks are used up.
   */
  readonly forecastLooksMax?: number;
}

/** Sites that a choice tells of. */
const OFFERS_TOLD = 5;

export class Board {
  readonly now: number;
  readonly pool: NodePool;
  readonly #order: Placement;
  readonly #prepared: Prepared;
  readonly #forecastLooksMax: number | null;
  readonly #views: Views;
  readonly #lanes: LaneBook;
  readonly #room: RoomNow;
  readonly #cluster: ClusterRoom;
  /** Nodes that somebody leaves by this plan. */
  readonly #expelled = new Set<NodeName>();
  readonly #finders = new Map<string, SlotFinder>();
  #work = 0;
  readonly #looksBefore: number;

  constructor(options: BoardOptions) {
    const { pool, closed, windows, now, loads, forecastLooksMax } = options;
    const prepared = options.prepared ?? NOTHING_PREPARED;
    const views = new Views(pool, closed ?? new Map());
    const order = new Placement(loads ?? new Map(), options.brokerage);
    const lanes = new LaneBook(views, windows, now);
    this.now = now;
    this.pool = pool;
    this.#prepared = prepared;
    this.#views = views;
    this.#order = order;
    this.#lanes = lanes;
    this.#room = new RoomNow({ views, lanes, order, prepared, now });
    this.#cluster = new ClusterRoom(options.stock ?? NO_STOCK, now);
    this.#forecastLooksMax = forecastLooksMax ?? null;
    this.#looksBefore = pool.looks;
  }

  /** Looks at nodes, and at classes of them, so far: what a cycle costs. */
  get work(): number {
    const inPool = this.pool.looks - this.#looksBefore + this.#views.touched.looks;
    return this.#work + inPool + this.#order.looks + this.#lanes.looks + this.#room.looks;
  }

  /** No slot is looked for any more: that none was found says nothing. */
  get isSpent(): boolean {
    return this.work >= (this.#forecastLooksMax ?? Infinity);
  }

  /** What else costs about as much as so many looks. */
  addWork(looks: number): void {
    this.#work += looks;
  }

  /**
   * Nodes for a task that starts now, and where sites were compared the best of them with what
   * spoke for them. Fewer nodes than asked for: it does not start.
   */
  place(ask: Ask): { readonly views: readonly NodeView[]; readonly choice: Choice | null } {
    const { nodeCount } = ask.request;
    const isBrokered = siteRuleOf(ask.placement) !== null;
    const best = this.fitting(ask, isBrokered ? Math.max(nodeCount, OFFERS_TOLD) : nodeCount);
    return { views: best.slice(0, nodeCount), choice: this.#order.choice(best, ask) };
  }

  /**
   * Nodes where one part each could start now, at most `max`: those that are ready for it first,
   * then the others, each in the order of placement. None where the cluster lacks what it asks for
   * once.
   */
  fitting(ask: Ask, max: number): NodeView[] {
    return this.#cluster.fits(ask) ? this.#room.fitting(ask, max) : [];
  }

  /** Until when it could run if it started now, whatever its time limit is; null: not at all. */
  fitsUntil(ask: Ask): number | null {
    const onNodes = this.#room.fitsUntil(ask);
    const inCluster = this.#cluster.fitsUntil(ask);
    return onNodes === null || inCluster <= this.now ? null : Math.min(onNodes, inCluster);
  }

  /** Takes the shares for a task that starts now. */
  start(ask: Ask, views: readonly NodeView[], taker: Taker): readonly Share[] {
    this.#cluster.take(ask, this.now, endAt(this.now, ask.walltimeMs));
    return views.map((view) => this.#take(view, ask, taker));
  }

  /** The earliest time from `from` on at which all nodes fit together; null: never or `isSpent`. */
  slot(ask: Ask, from = this.now): Slot | null {
    const key = from === this.now ? ask.key : `${ask.key} from ${from}`;
    let finder = this.#finders.get(key);
    if (finder === undefined) {
      finder = new SlotFinder(demandOf(ask), fieldOf(this, ask, from, this.#expelled));
      this.#finders.set(key, finder);
    }
    return finder.find();
  }

  /** A slot that was found before, if it is still there and still to come. */
  slotAt(ask: Ask, at: number, nodes: readonly NodeName[]): Slot | null {
    if (at <= this.now + 1 || !this.#cluster.fits(ask, at)) return null;
    const lanes: Lane[] = [];
    for (const name of nodes) {
      if (this.#views.for(name, ask) === undefined) return null;
      const lane = this.lane(name);
      const to = endWith(this.#prepared, { lane, ask, at });
      if (!lane.fits(wantOf(ask.request), ask.reservation, at, to)) return null;
      lanes.push(lane);
    }
    return { at, lanes };
  }

  /** Sets a slot aside: whatever starts from here on leaves it free. */
  promise(ask: Ask, slot: Slot): void {
    const { at } = slot;
    const isEndless = ask.walltimeMs === null && this.#forecastLooksMax !== null;
    const endOf = (walltimeMs: number | null): number => {
      return isEndless ? Math.max(at + 1, UNKNOWN_END) : endAt(at, walltimeMs);
    };
    this.#cluster.take(ask, at, endOf(ask.walltimeMs));
    for (const lane of slot.lanes) {
      const to = endOf(this.#walltimeOn(lane.view.name, ask));
      const cards = lane.cardsWithin(ask.reservation, at, to);
      const { resources } = takenOf(lane.view, ask.request, cards);
      lane.take(resources, ask.reservation, at, to);
      this.#lanes.promise(lane.view.name);
    }
  }

  /** Whether it gets in a moment what it asks of the whole cluster. */
  opensSoon(ask: Ask): boolean {
    return this.#cluster.fits(ask, this.now + 1);
  }

  opens(ask: Ask, at: number): number {
    return this.#cluster.opens(ask, at);
  }

  /** Whether any of it was set aside for a task in this cycle. */
  isPromised(name: NodeName): boolean {
    return this.#lanes.isPromised(name);
  }

  /** What is set aside of a node, from now on. */
  windowsOn(name: NodeName): readonly Window[] {
    return this.#lanes.windowsOn(name);
  }

  lane(name: NodeName): Lane {
    return this.#lanes.of(name);
  }

  /** The node, if it could hold a part if it were empty. */
  eligibleView(name: NodeName, ask: Ask): NodeView | null {
    const view = this.#views.for(name, ask);
    const { nodes, request } = ask;
    if (view === undefined || !couldEverHold(view, request)) return null;
    if (nodes?.has(name) === false) return null;
    return request.nodeNames.length === 0 || request.nodeNames.includes(name) ? view : null;
  }

  /** Nodes that could hold a part if they were empty. */
  eligible(ask: Ask): NodeView[] {
    const names = namesOf(ask);
    const views: NodeView[] = [];
    for (const name of names ?? this.pool.names()) {
      const view = this.#views.for(name, ask);
      this.#work += 1;
      if (view !== undefined && couldEverHold(view, ask.request)) views.push(view);
    }
    return views;
  }

  /** Nodes enough with what is free, or leaving already, or expelled by this plan; else null. */
  freeSoon(ask: Ask): NodeName[] | null {
    const { nodeCount } = ask.request;
    const names = new Set(this.fitting(ask, nodeCount).map((view) => view.name));
    for (const name of this.#leavingFrom(ask)) {
      if (names.size === nodeCount) break;
      if (!names.has(name) && this.fitsWithout(name, ask, [])) names.add(name);
    }
    return names.size === nodeCount ? [...names] : null;
  }

  *#leavingFrom(ask: Ask): Generator<NodeName> {
    const named = namesOf(ask);
    if (named !== null) return yield* this.eligible(ask).map((view) => view.name);
    // The pool knows neither what this plan has done to a node nor what is set aside there.
    const { request } = ask;
    for (const name of this.#expelled) {
      if (couldEverHold(this.#views.get(name) as NodeView, request)) yield name;
    }
    for (const name of inTurn(this.#lanes.claimed, this.#views.touched.names())) {
      const view = this.pool.get(name);
      if (view !== undefined && holdsNow(view, request)) yield name;
    }
    for (const { at, view } of this.pool.later(ask.request, ask.roomKey)) {
      if (at > this.now + 1) return;
      yield view.name;
    }
  }

  /** Whether a part fits in a moment, if by then these are gone, with all that is leaving. */
  fitsWithout(name: NodeName, ask: Ask, gone: readonly Gone[]): boolean {
    this.#work += 1;
    const isClaimed = this.#lanes.claimed.has(name) || this.#lanes.made(name) !== undefined;
    const isPlain = ask.reservation === null && !isClaimed;
    if (isPlain) return fitsAfter(this.#views.get(name) as NodeView, ask.request, gone, this.now);
    const lane = this.lane(name);
    const from = this.now + 1;
    for (const one of gone) lane.give(one);
    const to = endWith(this.#prepared, { lane, ask, at: from });
    const fits = lane.fits(wantOf(ask.request), ask.reservation, from, to);
    for (const one of gone) lane.keep(one);
    return fits;
  }

  /** From here on the plan counts on its leaving. */
  expel(name: NodeName, gone: Gone): void {
    this.lane(name).give(gone);
    this.#expelled.add(name);
    // They count on slots that only ever become later.
    this.#finders.clear();
  }

  /** The nodes from the next moment on. */
  soon(names: readonly NodeName[]): Slot {
    return { at: this.now + 1, lanes: names.map((name) => this.lane(name)) };
  }

  #walltimeOn(name: NodeName, ask: Ask): number | null {
    return walltimeOn(this.#prepared, name, ask);
  }

  #take(view: NodeView, ask: Ask, { jobId, index }: Taker): Share {
    const { request, reservation } = ask;
    const walltimeMs = this.#walltimeOn(view.name, ask);
    const cards = this.#cardsOn(view, ask, walltimeMs);
    const { resources, gpus } = takenAtStart(view, request, cards);
    const running = { jobId, index, resources, startedAt: this.now, walltimeMs, reservation };
    this.#views.take(view, { one: running, gpus }, request.exclusive);
    this.#lanes
      .made(view.name)
      ?.take(resources, reservation, this.now, latestEndOf(running, this.now));
    return shareOf(view, request, gpus);
  }

  /** What it may have of the cards of a node: not what others were promised before it ends. */
  #cardsOn(view: NodeView, ask: Ask, walltimeMs: number | null): Cards | undefined {
    const { cards } = view.free;
    const isClaimed = this.#lanes.claimed.has(view.name);
    if (cards === undefined || ask.request.perNode.gpuCount === 0 || !isClaimed) return cards;
    const to = endAt(this.now, walltimeMs);
    const open = this.lane(view.name).cardsWithin(ask.reservation, this.now, to);
    return open === undefined ? cards : leastOf(cards, open);
  }
}

/** What its node is told of: amounts as they are counted and billed. */
function shareOf(
  { name, total }: NodeView,
  { exclusive, perNode }: ResourceRequest,
  gpus: readonly number[],
): Share {
  const types = typesOf(total.cards, gpus);
  const share = {
    node: name,
    resources: plainAmounts(exclusive ? { ...total, gpuCount: gpus.length } : perNode),
    gpus,
    ...(types === null ? {} : { gpuTypes: types }),
  };
  const gpuShareBytes = perNode.gpuKind?.shareBytes ?? null;
  return gpuShareBytes === null ? share : { ...share, gpuShareBytes };
}
