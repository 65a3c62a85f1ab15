// Reservations as the scheduler sees them: one window per slot.

import type { NodeName } from '../model/ids.ts';
import type { Reservation, ReservedShare, ReservedSlot } from '../model/reservation.ts';
import type { Window } from './lane.ts';

/** Slots never change in place, so each is turned into a window once and not in every cycle. */
const made = new WeakMap<ReservedSlot, Window>();

/** Of all the slots that there are. */
export function windowsOf(reservations: Iterable<Reservation>): Window[] {
  return [...reservations].flatMap((one) => one.slots.map((slot) => windowOf(one, slot)));
}

function windowOf({ id, name, purpose }: Reservation, slot: ReservedSlot): Window {
  let window = made.get(slot);
  if (window === undefined || window.name !== name) {
    const shares = new Map(Object.entries(slot.shares) as [NodeName, ReservedShare][]);
    window = { id, name, purpose, from: slot.from, to: slot.until, shares };
    made.set(slot, window);
  }
  return window;
}
