// The occurrences of a recurring reservation: set aside ahead, skipped where there is no room, and
// tried again while something of them is still to come.

import { err, type Result } from '../../base/result.ts';
import { formatRefusal } from '../../model/errors.ts';
import { RESERVATION_RETRIES_MAX } from '../../model/limits.ts';
import {
  isOpen,
  type Reservation,
  type ReservedSlot,
  type SkippedSlot,
} from '../../model/reservation.ts';
import { placeAt, type Room } from '../../scheduler/reserve.ts';
import type { Step } from '../step.ts';
import { refusalOf } from './obstacles.ts';
import { roomFor } from './place.ts';

/** Further occurrences; one that finds no room is skipped, with the reason. */
export function placeFurther(
  step: Step,
  known: Reservation,
  starts: readonly number[],
): { slots: ReservedSlot[]; skipped: SkippedSlot[] } {
  const room = roomFor(step, known.request, known.id);
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

/** Those that come first, so that a tick costs little however many there are. */
export function retrySkipped(step: Step): void {
  const open = [...step.state.reservations.values()].flatMap(({ id, skipped, request }) => {
    return skipped.flatMap(({ from }) =>
      isOpen({ request }, from, step.at) ? [{ id, from }] : [],
    );
  });
  open.sort((a, b) => a.from - b.from);
  let room: Room | null = null;
  let roomOf = '';
  for (const { id, from } of open.slice(0, RESERVATION_RETRIES_MAX)) {
    const known = step.state.reservations.get(id) as Reservation;
    if (room === null || roomOf !== id) room = roomFor(step, known.request, id);
    roomOf = id;
    const slot = placeOne(step, known, from, room);
    if (!slot.ok) continue;
    step.emit({ kind: 'reservation_slot_found', id, from, slot: slot.value });
    room = null;
  }
}

/** Why an occurrence has no room at this instant, in words; null: it has by now. */
export function obstacleNow(
  step: Pick<Step, 'state' | 'at'>,
  known: Reservation,
  from: number,
): string | null {
  const slot = placeOne(step, known, from, roomFor(step, known.request, known.id));
  return slot.ok ? null : slot.error;
}

/** Of an occurrence that has begun, the rest. */
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
  if (isTwice) return err('another of its times is not over then');
  const slot = placeAt(request, begin, until - begin, room);
  if (slot.ok) return slot;
  // What to do is for those who choose, and here nobody does.
  const { code, details } = refusalOf(step, slot.error, request);
  return err(formatRefusal({ code, details }));
}
