// Applying what happened to reservations. They are replaced whole, never changed in place:
// snapshots of the state share them.

import { assert, present } from '../../base/assert.ts';
import { RESERVATION_HELD_MAX, RESERVATION_SKIPPED_MAX } from '../../model/limits.ts';
import type { Reservation } from '../../model/reservation.ts';
import type { Of } from '../events.ts';
import { dequeueEntry, entryOf, jobOf, requeueEntry } from '../jobs/apply.ts';
import type { State } from '../state.ts';

export function reservationOf(state: State, id: string): Reservation {
  return present(state.reservations.get(id), `reservation ${id}`);
}

export function applyReservationCreated(state: State, event: Of<'reservation_created'>): void {
  const { reservation } = event;
  assert(!state.reservations.has(reservation.id), `reservation ${reservation.id} is new`);
  state.nextReservationId = Number(reservation.id.slice(1)) + 1;
  keep(state, reservation);
}

export function applyReservationChanged(state: State, event: Of<'reservation_changed'>): void {
  reservationOf(state, event.reservation.id);
  keep(state, event.reservation);
}

export function applyReservationExtended(state: State, event: Of<'reservation_extended'>): void {
  const known = reservationOf(state, event.id);
  const skipped = [...known.skipped, ...event.skipped].slice(-RESERVATION_SKIPPED_MAX);
  // After the clock went back they may be earlier than what is there.
  const slots = [...known.slots, ...event.slots].sort((a, b) => a.from - b.from);
  keep(state, { ...known, slots, skipped, placedUntil: event.placedUntil });
}

export function applySlotFound(
  state: State,
  { id, from, slot }: Of<'reservation_slot_found'>,
): void {
  const known = reservationOf(state, id);
  const slots = [...known.slots, slot].sort((a, b) => a.from - b.from);
  keep(state, { ...known, slots, skipped: known.skipped.filter((one) => one.from !== from) });
}

export function applySlotBegun(state: State, event: Of<'reservation_slot_begun'>): void {
  const known = reservationOf(state, event.id);
  const slots = known.slots.map((slot) => {
    return slot.from === event.from ? { ...slot, begun: true } : slot;
  });
  keep(state, { ...known, slots });
}

export function applySlotOver(state: State, event: Of<'reservation_slot_over'>): void {
  const known = reservationOf(state, event.id);
  const over = known.slots.find((slot) => slot.from === event.from);
  const slots = known.slots.filter((slot) => slot !== over);
  keep(state, { ...known, slots, ...(over?.begun === true ? heldToo(known, event.from) : {}) });
}

export function applyReservationEnded(state: State, event: Of<'reservation_ended'>): void {
  reservationOf(state, event.id);
  state.reservations.delete(event.id);
  state.scratch.scheduleDue = true;
}

export function applyJobReserved(state: State, event: Of<'job_reserved'>): void {
  const job = jobOf(state, event.jobId);
  dequeueEntry(state, job);
  const { reservation: _, ...rest } = job.spec;
  const { reservation } = event;
  job.spec = reservation === null ? rest : { ...rest, reservation };
  job.entry = entryOf(state, job, job.entry.running);
  requeueEntry(state, job);
}

/** One of a single time is gone with it. */
function heldToo({ recurrence, held = [] }: Reservation, from: number): Pick<Reservation, 'held'> {
  return recurrence === null ? {} : { held: [...held, from].slice(-RESERVATION_HELD_MAX) };
}

/**
 * The clock went back: occurrences are placed anew from now on, so that what it had only passed
 * over comes; what has been comes no second time (`held`).
 */
export function rebaseReservations(state: State, byMs: number): void {
  if (byMs >= 0) return;
  for (const known of [...state.reservations.values()]) {
    if (known.recurrence === null) continue;
    state.reservations.set(known.id, { ...known, placedUntil: 0 });
  }
}

/** What is set aside has changed, so what may start has too. */
function keep(state: State, reservation: Reservation): void {
  state.reservations.set(reservation.id, reservation);
  state.scratch.scheduleDue = true;
}
