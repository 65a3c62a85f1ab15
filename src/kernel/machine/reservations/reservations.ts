// Reservations as a noun.

import type { Reservation } from '../../model/reservation.ts';
import type { Noun } from '../noun.ts';
import type { Step } from '../step.ts';
import * as apply from './apply.ts';
import { reservationEvents } from './apply.ts';
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
    ...reservationEvents,
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
