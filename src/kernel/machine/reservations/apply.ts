// Applying what happened to reservations. They are replaced whole, never changed in place:
// snapshots of the state share them.

import { assert, present } from '../../base/assert.ts';
import { RESERVATION_HELD_MAX, RESERVATION_SKIPPED_MAX } from '../../model/limits.ts';
import type { Reservation } from '../../model/reservation.ts';
import { dequeueEntry, entryOf, jobOf, requeueEntry } from '../jobs/apply.ts';
import type { EventTable } from '../noun.ts';
import type { State } from '../state.ts';

/** What happens to the state, by the kind of event. */
export const reservationEvents = {
  reservation_created(state, event) {
    const { reservation } = event;
    assert(!state.reservations.has(reservation.id), `reservation ${reservation.id} is new`);
    state.nextReservationId = Number(reservation.id.slice(1)) + 1;
    keep(state, reservation);
  },
  reservation_changed(state, event) {
    reservationOf(state, event.reservation.id);
    keep(state, event.reservation);
  },
  reservation_extended(state, event) {
    const known = reservationOf(state, event.id);
    const skipped = [...known.skipped, ...event.skipped].slice(-RESERVATION_SKIPPED_MAX);
    // After the clock went back they may be earlier than what is there.
    const slots = [...known.slots, ...event.slots].sort((a, b) => a.from - b.from);
    keep(state, { ...known, slots, skipped, placedUntil: event.placedUntil });
  },
  reservation_slot_found(state, { id, from, slot }) {
    const known = reservationOf(state, id);
    const slots = [...known.slots, slot].sort((a, b) => a.from - b.from);
    keep(state, { ...known, slots, skipped: known.skipped.filter((one) => one.from !== from) });
  },
  reservation_slot_begun(state, event) {
    const known = reservationOf(state, event.id);
    const slots = known.slots.map((slot) => {
      return slot.from === event.from ? { ...slot, begun: true } : slot;
    });
    keep(state, { ...known, slots });
  },
  reservation_slot_over(state, event) {
    const known = reservationOf(state, event.id);
    const over = known.slots.find((slot) => slot.from === event.from);
    const slots = known.slots.filter((slot) => slot !== over);
    keep(state, { ...known, slots, ...(over?.begun === true ? heldToo(known, event.from) : {}) });
  },
  reservation_ended(state, event) {
    reservationOf(state, event.id);
    state.reservations.delete(event.id);
    state.scratch.scheduleDue = true;
  },
  job_reserved(state, event) {
    const job = jobOf(state, event.jobId);
    dequeueEntry(state, job);
    const { reservation: _, ...rest } = job.spec;
    const { reservation } = event;
    job.spec = reservation === null ? rest : { ...rest, reservation };
    job.entry = entryOf(state, job, job.entry.running);
    requeueEntry(state, job);
  },
} satisfies Partial<EventTable>;

export function reservationOf(state: State, id: string): Reservation {
  return present(state.reservations.get(id), `reservation ${id}`);
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
