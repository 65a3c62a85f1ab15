// S5: reservations are honoured. Judged on the durable record alone: what was set aside, what had
// been given to whom, and what is given now.

import { formatTaskId, type NodeName, type TaskPlace } from '../../src/kernel/model/ids.ts';
import type { Share } from '../../src/kernel/model/orders.ts';
import type { Reservation, ReservedSlot } from '../../src/kernel/model/reservation.ts';
import {
  addResources,
  fitsIn,
  NO_RESOURCES,
  type Resources,
  subtractResources,
} from '../../src/kernel/model/resources.ts';
import type { Machine } from '../machine.ts';
import type { HeldTruth, ShareTruth, Truth } from '../truth.ts';
import { Violation } from '../violation.ts';

interface Slot extends ReservedSlot {
  readonly reservation: Reservation;
}

/** What is given now, on one of its nodes. */
interface Given {
  readonly words: string;
  readonly node: NodeName;
  readonly at: number;
  readonly until: number;
  readonly share: ShareTruth;
  readonly reservation: string | null;
}

/** S5: a task gets what nobody has set aside, or its own reservation's share in its time. */
export function checkWindows(
  truth: Truth,
  machines: ReadonlyMap<string, Machine>,
  event: {
    readonly place: TaskPlace;
    readonly shares: readonly Share[];
  },
  at: number,
): void {
  if (truth.reservations.size === 0) return;
  const { place, shares } = event;
  const spec = truth.jobs.get(place.jobId)?.spec;
  // The program of a maintenance is let in by it, takes nothing, and is ended with it.
  if (spec === undefined || spec.system !== undefined) return;
  const until = spec.walltimeMs === null ? Infinity : at + spec.walltimeMs;
  const reservation = truth.reservationOf(place.jobId);
  for (const share of shares) {
    const { node } = share;
    const words = `${formatTaskId(place.jobId, place.index)} on ${node}`;
    const given = { words, node, at, until, share, reservation };
    const total = machines.get(node)?.make.resources ?? NO_RESOURCES;
    checkNode(truth, given, total);
  }
}

function checkNode(truth: Truth, given: Given, total: Resources): void {
  const slots = slotsOf(truth, given.node);
  const { reservation, at, until } = given;
  if (reservation !== null) return checkMember(truth, given, slots, total);
  const mine = slots.filter((slot) => slot.from < until && slot.until > at);
  for (const { from, reservation: other } of mine) {
    checkInstant(truth, given, { slots: mine, at: Math.max(at, from), total, other: other.id });
  }
}

/** At one instant of its time: what others may use holds all that would be there. */
function checkInstant(
  truth: Truth,
  { words, node, at, share: given }: Given,
  of: { slots: readonly Slot[]; at: number; total: Resources; other: string },
): void {
  const open = of.slots.filter((slot) => slot.from <= of.at && of.at < slot.until);
  let left = of.total;
  for (const slot of open) {
    const share = slot.shares[node] as Resources | 'whole';
    if (share === 'whole') {
      const what = slot.reservation.purpose === 'maintenance' ? 'maintenance' : 'reservation';
      throw new Violation('S5', `${words} starts and may run into ${what} ${slot.reservation.id}`);
    }
    left = subtractResources(left, share);
  }
  const others: ShareTruth[] = [];
  for (const held of truth.heldOn(node)) {
    if (latestEndOf(held, at) <= of.at) continue;
    if (open.some((slot) => slot.reservation.id === held.reservation)) continue;
    others.push(held);
  }
  if (fitsIn(together(given, others), left)) return;
  throw new Violation('S5', `${words} takes what is set aside for reservation ${of.other}`);
}

/** Counts a gpu once that several have in part: how much of it each has is judged by `cards.ts`. */
function together(given: ShareTruth, others: readonly ShareTruth[]): Resources {
  const gpus = new Set(given.gpus);
  let sum = given.resources;
  for (const other of others) {
    sum = addResources(sum, other.resources);
    for (const gpu of other.gpus) gpus.add(gpu);
  }
  return { ...sum, gpuCount: gpus.size };
}

/** R2: within one slot of its reservation, and within the share. */
function checkMember(truth: Truth, given: Given, slots: readonly Slot[], total: Resources): void {
  const { words, node, at, until, reservation } = given;
  const own = slots.find((slot) => {
    return slot.reservation.id === reservation && slot.from <= at && until <= slot.until;
  });
  if (own === undefined) throw new Violation('S5', `${words} is outside of its ${reservation}`);
  const share = own.shares[node];
  if (share === undefined || share === 'whole') return;
  const others = [...truth.heldOn(node)].filter((held) => held.reservation === reservation);
  const used = together(given.share, others);
  if (fitsIn(used, share) || fitsIn(total, share)) return;
  throw new Violation('S5', `${words} takes more than the share of its ${reservation}`);
}

function slotsOf(truth: Truth, node: NodeName): Slot[] {
  const slots: Slot[] = [];
  for (const reservation of truth.reservations.values()) {
    for (const slot of reservation.slots) {
      if (Object.hasOwn(slot.shares, node)) slots.push({ ...slot, reservation });
    }
  }
  return slots;
}

/** When it is over at the latest; what should be over already will be in a moment. */
function latestEndOf({ startedAt, walltimeMs, stopped }: HeldTruth, now: number): number {
  if (walltimeMs === null) return Infinity;
  const from = stopped || startedAt === null ? now : startedAt;
  return Math.max(from + walltimeMs, now + 1);
}
