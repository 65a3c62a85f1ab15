// What is set aside.

import type { Reservation } from '../../model/reservation.ts';

export interface ReservationsFacts {
  /** Shares of nodes set aside for later or for now, by id; maintenance too. */
  readonly reservations: Map<string, Reservation>;
  nextReservationId: number;
}
