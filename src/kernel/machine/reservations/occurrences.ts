// The occurrences of a recurring reservation: set aside ahead, skipped where there is no room, and
// tried again while something of them is still to come.

import { err, type Result } from '../../base/result.ts';
import { RESERVATION_LOOKS_PER_SECOND_MAX, RESERVATION_RETRIES_MAX } from '../../model/limits.ts';
import {
  isOpen,
  type Reservation,
  type ReservedSlot,
  type SkippedSlot,
} from '../../model/reservation.ts';
import { placeAt, type Room } from '../../scheduler/room/reserve.ts';
import type { Step } from '../step.ts';
import { reservationOf } from './apply.ts';
import { roomFor, wordsFor } from './place.ts';

/** Further occurrences; one that finds no room is skipped, with the reason. */
export function placeFurther(
  step: Step,
  known: Reservation,
  starts: readonly number[],
): { slots: ReservedSlot[]; skipped: SkippedSlot[] } {
  const room = roomOf(step, known, starts);
  const slots: ReservedSlot[] = [];
  const skipped: SkippedSlot[] = [];
  for (const from of starts) {
    // One may have gone by while the head was away.
    if (!isOpen(known, from, step.at)) continue;
    const slot = placeOne(step, { ...known, slots: [...known.slots, ...slots] }, from, room);
    if (slot.ok) slots.push(slot.value);
    else skipped.push({ from, because: slot.error });
  }
  return { slots, skipped };
}

/**
 * A few reservations in each tick, on large clusters one every few seconds, so that they cost
 * little however many there are. They have turns: the first ones may be without room for weeks.
 */
export function retrySkipped(step: Step): void {
  const { state, at } = step;
  if (at < state.scratch.retryNotBefore) return;
  const waiting = [...state.reservations.values()]
    .map((one) => ({ id: one.id, first: openOf(one, at)[0] ?? Infinity }))
    .filter(({ first }) => first < Infinity)
    .sort((a, b) => a.first - b.first);
  const { count, pauseMs } = retriesOn(state.nodes.size, waiting.length);
  const begin = count < waiting.length ? state.scratch.retryTurn : 0;
  for (let turn = begin; turn < begin + count; turn += 1) {
    retry(step, (waiting[turn % waiting.length] as { id: string }).id);
  }
  state.scratch.retryTurn = begin + count;
  state.scratch.retryNotBefore = at + pauseMs;
}

/** How many reservations one tick looks at, each on all nodes, and how long none does then. */
export function retriesOn(nodeCount: number, waiting: number): { count: number; pauseMs: number } {
  const perSecond = RESERVATION_LOOKS_PER_SECOND_MAX;
  const looks = nodeCount + 1;
  const count = Math.min(waiting, RESERVATION_RETRIES_MAX, Math.ceil(perSecond / looks));
  const pauseMs = Math.floor((1000 * count * looks) / perSecond);
  return { count, pauseMs: pauseMs > 1000 ? pauseMs : 0 };
}

function retry(step: Step, id: string): void {
  const known = (): Reservation => reservationOf(step.state, id);
  let room: Room | null = null;
  for (const from of openOf(known(), step.at)) {
    room ??= roomOf(step, known());
    const slot = placeOne(step, known(), from, room);
    if (!slot.ok) continue;
    step.emit({ kind: 'reservation_slot_found', id, from, slot: slot.value });
  }
}

/** The begins of those skipped that may still find room, the next one first. */
function openOf(known: Reservation, at: number): number[] {
  const begins = known.skipped.map(({ from }) => from).filter((from) => isOpen(known, from, at));
  return begins.sort((a, b) => a - b);
}

/** Why an occurrence has no room at this instant, in words; null: it has by now. */
export function obstacleNow(
  step: Pick<Step, 'state' | 'at'>,
  known: Reservation,
  from: number,
): string | null {
  const slot = placeOne(step, known, from, roomOf(step, known));
  return slot.ok ? null : slot.error;
}

/** For its occurrences that are known, and these. */
function roomOf(
  step: Pick<Step, 'state' | 'at'>,
  known: Reservation,
  starts: readonly number[] = [],
): Room {
  const { id, request, slots, skipped } = known;
  const times = [...[...slots, ...skipped].map(({ from }) => from), ...starts]
    .filter((from) => isOpen(known, from, step.at))
    .map((from) => ({ from, to: from + request.durationMs }));
  return roomFor(step, request, { id, times, purpose: 'users' });
}

/** A slot for an occurrence; for the rest of one that has begun. */
function placeOne(
  step: Pick<Step, 'state' | 'at'>,
  { request, slots }: Reservation,
  from: number,
  room: Room,
): Result<ReservedSlot, string> {
  const until = from + request.durationMs;
  const begin = Math.max(from, step.at);
  // A day with a change of the clock is shorter.
  const isTwice = slots.some((slot) => slot.from < until && begin < slot.until);
  if (isTwice) return err('another occurrence overlaps it');
  const slot = placeAt(request, begin, until - begin, room);
  return slot.ok ? slot : err(wordsFor(step, slot.error, request));
}
