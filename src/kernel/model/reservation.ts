// Shares of nodes set aside for a time: for some users, or, as maintenance, for nobody.

import type { JobId, NodeName, UserName } from './ids.ts';
import type { Resources } from './resources.ts';

/** What is set aside of one node; `whole`: nothing else may be there, however little it asks. */
export type ReservedShare = Resources | 'whole';

/** One time in which a reservation holds. Slots of one reservation never overlap. */
export interface ReservedSlot {
  /** Ms since 1970; [from, until). */
  readonly from: number;
  readonly until: number;
  readonly shares: Readonly<Record<NodeName, ReservedShare>>;
  /** The reservation's start has been seen: what waited for it may start. */
  readonly begun: boolean;
}

/** When it shall be. `flexible`: as early as there is room for all of it between two instants. */
export type ReservedTime =
  | { readonly kind: 'fixed'; readonly from: number }
  | { readonly kind: 'flexible'; readonly notBefore: number; readonly until: number };

/** What was asked for; kept, so that further occurrences and changes are made of the same. */
export interface ReservationRequest {
  readonly time: ReservedTime;
  readonly durationMs: number;
  /** Only these; empty = any. */
  readonly nodeNames: readonly NodeName[];
  readonly nodeCount: number;
  readonly perNode: ReservedShare;
  readonly labels: readonly string[];
  /** Tasks that would still run at its start are not in the way. */
  readonly force: boolean;
}

/** Five fields of cron(5), read in a time zone of the IANA database. */
export interface Recurrence {
  readonly cron: string;
  readonly zone: string;
}

/** An occurrence that found no room, and why when it was decided. */
export interface SkippedSlot {
  readonly from: number;
  readonly because: string;
}

export interface Reservation {
  /** `r1`, `r2`, …; maintenance has `m1`, `m2`, …. Never used twice. */
  readonly id: string;
  /** Unique among those alive; users may write it for the id. */
  readonly name: string;
  readonly purpose: 'users' | 'maintenance';
  /** Users of the reservation; nobody, in maintenance. */
  readonly users: readonly UserName[];
  readonly groups: readonly string[];
  /** Jobs that were put into it, whoever owns them. */
  readonly jobs: readonly JobId[];
  /** The current and the coming ones, in order of time; a past one is gone. */
  readonly slots: readonly ReservedSlot[];
  /** Occurrences that could not be set aside, newest last; at most RESERVATION_SKIPPED_MAX. */
  readonly skipped: readonly SkippedSlot[];
  readonly request: ReservationRequest;
  readonly recurrence: Recurrence | null;
  /** For a recurring one: occurrences up to this instant have been placed or skipped. */
  readonly placedUntil: number;
  /** Begins of its last occurrences that are over: they do not come again. Absent: none. */
  readonly held?: readonly number[];
  readonly createdBy: string;
  readonly createdAt: number;
}

/** The slot that holds at this instant, if one does. */
export function currentSlot(reservation: Reservation, at: number): ReservedSlot | null {
  return reservation.slots.find((slot) => slot.from <= at && at < slot.until) ?? null;
}

/** Whether something of an occurrence is still to come that a cluster would notice: a second. */
export function isOpen(
  { request }: Pick<Reservation, 'request'>,
  from: number,
  at: number,
): boolean {
  return at + 1000 <= from + request.durationMs;
}
