// One node's future: what is free for everybody, and what is set aside for each reservation.

import type { Cards } from '../../model/cards.ts';
import type { NodeName } from '../../model/ids.ts';
import type { ResourceRequest } from '../../model/job.ts';
import type { Reservation, ReservedShare } from '../../model/reservation.ts';
import { addResources, askedOfPart, NO_RESOURCES, type Resources } from '../../model/resources.ts';
import type { NodeView, Running } from './pool.ts';
import { FOREVER, hasRoom, Profile, type ShareEnd, UNKNOWN_END, type Want } from './profile.ts';

/** `external`: another program decides what starts. `node_end`: its node is gone from then on. */
export type WindowPurpose = Reservation['purpose'] | 'external' | 'node_end';

/** A time in which shares of nodes are set aside for some, or, for maintenance, for nobody. */
export interface Window {
  readonly id: string;
  /** What its users call it. */
  readonly name: string;
  readonly purpose: WindowPurpose;
  /** The reservation recurs. */
  readonly recurs: boolean;
  /** Ms since 1970; [from, to). */
  readonly from: number;
  readonly to: number;
  readonly shares: ReadonlyMap<NodeName, ReservedShare>;
}

/**
 * More than any node has: taken away, it leaves no room even for a request for nothing. Exact when
 * it is given back.
 */
const EVERYTHING: Resources = { cpuCount: 1e12, memoryBytes: 2e15, gpuCount: 1e12, counted: {} };

/** Something that runs, and what of it would be free when it makes room. */
export interface Gone {
  readonly one: Running;
  readonly resources: Resources;
  /** False: a stopped task is still on the node, without its cpus. */
  readonly whole: boolean;
}

export class Lane {
  readonly view: NodeView;
  /** From then on the node is gone; `FOREVER`: it stays. */
  readonly leavesAt: number;
  readonly #now: number;
  readonly #open: Profile;
  readonly #reserved = new Map<string, Profile>();
  /** Reservations that have a part of the node. */
  readonly #inPart = new Set<string>();

  constructor(view: NodeView, windows: readonly Window[], now: number) {
    this.view = view;
    this.#now = now;
    const mine = windows.filter((window) => window.shares.has(view.name));
    this.leavesAt = Math.min(FOREVER, ...mine.filter(isEnd).map(({ from }) => from));
    const running = [...view.running];
    const inside =
      mine.length === 0
        ? []
        : running.filter((one) => mine.some(({ id }) => id === one.reservation));
    const free = inside.map((one) => one.resources).reduce(addResources, view.free);
    const outside = inside.length === 0 ? running : running.filter((one) => !inside.includes(one));
    this.#open = new Profile(
      now,
      free,
      outside.map((one) => endingOf(one, now)),
    );
    for (const window of mine) this.#setAside(window);
    for (const one of inside) this.#seat(one, mine);
  }

  /** What is free then of what is set aside for nobody. */
  freeAt(at: number): Resources {
    return this.#open.freeAt(at);
  }

  fits(want: Want, reservation: string | null, from: number, to: number): boolean {
    return this.#of(reservation)?.fits(this.#wanted(want, reservation), from, to) ?? false;
  }

  /** Like `Profile.fitsUntil`, in the reservation's share if one is named. */
  fitsUntil(want: Want, reservation: string | null, from: number): number {
    return this.#of(reservation)?.fitsUntil(this.#wanted(want, reservation), from) ?? from;
  }

  /** Like `Profile.earliest`, in the reservation's share if one is named. */
  earliest(want: Want, reservation: string | null, from: number, durationMs: number): number {
    const wanted = this.#wanted(want, reservation);
    return this.#of(reservation)?.earliest(wanted, from, durationMs) ?? FOREVER;
  }

  /** What nobody has of each card at any instant of [from, to); undefined: only counted. */
  cardsWithin(reservation: string | null, from: number, to: number): Cards | undefined {
    return this.#of(reservation)?.cardsWithin(from, to);
  }

  take(resources: Resources, reservation: string | null, from: number, to: number): void {
    this.#of(reservation)?.take(resources, from, to);
  }

  /** What it frees is there in a moment instead of at its end. */
  give(gone: Gone): void {
    this.#ofGone(gone).give(gone.resources, ...this.#spanOf(gone), gone.whole ? -1 : 0);
  }

  /** Takes a `give` back. */
  keep(gone: Gone): void {
    this.#ofGone(gone).take(gone.resources, ...this.#spanOf(gone), gone.whole);
  }

  /** From here on as if the window were not there, until `heed`. */
  ignore(window: Window): void {
    this.#open.give(this.#shareOf(window), window.from, window.to, -1);
  }

  /** What is set aside is nobody else's. */
  heed(window: Window): void {
    this.#open.take(this.#shareOf(window), window.from, window.to);
  }

  get isReserved(): boolean {
    return this.#reserved.size > 0;
  }

  #shareOf({ shares }: Window): Resources {
    const share = shares.get(this.view.name) as ReservedShare;
    return share === 'whole' ? EVERYTHING : share;
  }

  #of(reservation: string | null): Profile | undefined {
    return reservation === null ? this.#open : this.#reserved.get(reservation);
  }

  #wanted(want: Want, reservation: string | null): Want {
    if (reservation === null || !this.#inPart.has(reservation)) return want;
    return { ...want, resources: askedOfPart(want.resources, this.view.total) };
  }

  #ofGone({ one }: Gone): Profile {
    return this.#reserved.get(one.reservation ?? '') ?? this.#open;
  }

  #spanOf({ one }: Gone): [from: number, to: number] {
    return [this.#now + 1, latestEndOf(one, this.#now)];
  }

  /** A reservation that comes again has several windows here: its share is nothing in between. */
  #setAside(window: Window): void {
    const { id, from, to, shares } = window;
    const share = shares.get(this.view.name) as ReservedShare;
    this.heed(window);
    const profile = this.#reserved.get(id) ?? new Profile(this.#now, NO_RESOURCES);
    // Of a node that others use too, nobody can have the whole.
    if (share === 'whole') profile.give(this.view.total, from, to);
    else {
      profile.give(share, from, to, 1);
      this.#inPart.add(id);
    }
    this.#reserved.set(id, profile);
  }

  /** What runs in a reservation uses its share, and once the window is over what is everybody's. */
  #seat(one: Running, windows: readonly Window[]): void {
    const end = latestEndOf(one, this.#now);
    this.#reserved.get(one.reservation as string)?.take(one.resources, this.#now, end);
    let at = this.#now;
    const own = windows.filter(({ id }) => id === one.reservation).sort((a, b) => a.from - b.from);
    for (const { from, to } of own) {
      this.#open.take(one.resources, at, Math.min(from, end));
      at = Math.max(at, to);
    }
    this.#open.take(one.resources, at, end);
  }
}

function isEnd({ purpose }: Window): boolean {
  return purpose === 'node_end';
}

function endingOf(one: Running, now: number): ShareEnd {
  return { at: latestEndOf(one, now), resources: one.resources };
}

/** When it is over at the latest; what is leaving, or should have ended, ends in a moment. */
export function latestEndOf(
  { startedAt, walltimeMs, leaving, followed }: Running,
  now: number,
): number {
  if (leaving === true) return now + 1;
  if (walltimeMs === null) return UNKNOWN_END;
  if (followed) return now + walltimeMs;
  return Math.max((startedAt ?? now) + walltimeMs, now + 1);
}

/** On its way out: told to end, or past its time. */
export function isLeaving(one: Running, now: number): boolean {
  return latestEndOf(one, now) <= now + 1;
}

/** Like `holdsNow`, on a node of which nothing is set aside. */
export function fitsAfter(
  view: NodeView,
  request: ResourceRequest,
  gone: readonly Gone[],
  now: number,
): boolean {
  let free = view.free;
  let users = 0;
  for (const one of view.running) {
    if (isLeaving(one, now)) free = addResources(free, one.resources);
    else users += 1;
  }
  for (const one of gone) {
    free = addResources(free, one.resources);
    if (one.whole) users -= 1;
  }
  return hasRoom(request.perNode, request.exclusive, free, users === 0);
}
