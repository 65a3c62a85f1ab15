// What can be asked about reservations.

import type { JobId, UserName } from '../../model/ids.ts';
import type { Recurrence, ReservationRequest, ReservedTime } from '../../model/reservation.ts';

export type ReservationCommand =
  | CreateReservation
  | ChangeReservation
  | CancelReservation
  | ExtendReservation;

/** Asks for shares of nodes at a time to come, for some users and jobs. */
export interface CreateReservation {
  readonly kind: 'create_reservation';
  /** Null: its id. */
  readonly name: string | null;
  /** Nobody at all means whoever asks. */
  readonly members: ReservationMembers;
  readonly request: WantedReservation;
  readonly recurrence: Occurrences | null;
}

/** The request that will be kept, but `now` is the instant at which the command is decided. */
export interface WantedReservation extends Omit<ReservationRequest, 'time'> {
  readonly time: ReservedTime | { readonly kind: 'now' };
}

export interface ReservationMembers {
  readonly users: readonly UserName[];
  readonly groups: readonly string[];
  readonly jobs: readonly JobId[];
}

/** A recurrence and its next starts, ms since 1970: the core reads neither cron nor time zones. */
export interface Occurrences extends Recurrence {
  readonly starts: readonly number[];
}

/** What is absent stays as it is. A change of time or place is placed anew as a whole. */
export interface ChangeReservation {
  readonly kind: 'change_reservation';
  /** Id or name, as in the next. */
  readonly reservation: string;
  readonly name?: string;
  readonly members?: Partial<ReservationMembers>;
  readonly request?: WantedReservation;
  /** Null when it comes once more, or as the changed request says. */
  readonly recurrence?: Occurrences | null;
}

/** Frees at once what it sets aside, also while it lasts. */
export interface CancelReservation {
  readonly kind: 'cancel_reservation';
  readonly reservation: string;
}

/** Further starts of a recurring one; none: it does not come again. From the head itself. */
export interface ExtendReservation {
  readonly kind: 'extend_reservation';
  readonly id: string;
  readonly starts: readonly number[];
}
