// Reservations as a noun.

import type { Reservation } from '../../model/reservation.ts';
import type { Noun } from '../noun.ts';
import type { Step } from '../step.ts';
import * as apply from './apply.ts';
import { retrySkipped } from './occurrences.ts';
import * as requests from './requests.ts';
import { decideSlots } from './slots.ts';

export interface ReservationData {
  readonly reservations: readonly Reservation[];
  readonly nextReservationId: number;
}

export const reservations: Noun<'reservations', ReservationData> = {
  commands: {
    create_reservation: requests.decideCreate,
    change_reservation: requests.decideChange,
    cancel_reservation: requests.decideCancel,
    extend_reservation: requests.decideExtend,
  },
  events: {
    reservation_created: apply.applyReservationCreated,
    reservation_changed: apply.applyReservationChanged,
    reservation_extended: apply.applyReservationExtended,
    reservation_slot_found: apply.applySlotFound,
    reservation_slot_begun: apply.applySlotBegun,
    reservation_slot_over: apply.applySlotOver,
    reservation_ended: apply.applyReservationEnded,
    job_reserved: apply.applyJobReserved,
  },
  facts: () => ({ reservations: new Map(), nextReservationId: 1 }),
  save: (state) => ({
    reservations: [...state.reservations.values()],
    nextReservationId: state.nextReservationId,
  }),
  load(state, { reservations: known, nextReservationId }) {
    for (const one of known) state.reservations.set(one.id, one);
    // What is lost may have had higher ones: the head's own facts say so.
    state.nextReservationId = nextReservationId;
  },
  rebase: apply.rebaseReservations,
  due(step: Step) {
    retrySkipped(step);
    decideSlots(step);
  },
};
