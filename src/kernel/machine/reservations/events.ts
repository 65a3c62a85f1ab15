// What happens to reservations.

import type { JobId } from '../../model/ids.ts';
import type { Reservation, ReservedSlot, SkippedSlot } from '../../model/reservation.ts';

export type ReservationEvent =
  | {
      readonly kind: 'reservation_created';
      readonly reservation: Reservation;
      readonly by: string;
    }
  /** The whole of it as it is now. */
  | {
      readonly kind: 'reservation_changed';
      readonly reservation: Reservation;
      readonly by: string;
    }
  /** Further occurrences of a recurring one, up to `placedUntil`. */
  | {
      readonly kind: 'reservation_extended';
      readonly id: string;
      readonly slots: readonly ReservedSlot[];
      readonly skipped: readonly SkippedSlot[];
      readonly placedUntil: number;
    }
  /** The occurrence that was to begin at `from` was skipped, and has room now. */
  | {
      readonly kind: 'reservation_slot_found';
      readonly id: string;
      readonly from: number;
      readonly slot: ReservedSlot;
    }
  | { readonly kind: 'reservation_slot_begun'; readonly id: string; readonly from: number }
  | { readonly kind: 'reservation_slot_over'; readonly id: string; readonly from: number }
  /** Nothing of it is set aside any more. */
  | {
      readonly kind: 'reservation_ended';
      readonly id: string;
      readonly why: 'over' | 'cancelled';
      readonly by: string;
    }
  /** A pending job runs in the reservation from now on; null: outside of any. */
  | {
      readonly kind: 'job_reserved';
      readonly jobId: JobId;
      readonly reservation: string | null;
      readonly by: string;
    };
