// Records that the head had accepted and lost, and without which it was told to go on.

/** Only the newest are kept: a store that loses records often has another problem. */
export const LOSSES_KEPT_MAX = 10;

/** Numbers that were given out before the loss, and are not given again. */
export interface GivenNumbers {
  readonly nextJobId: number;
  readonly nextReservationId: number;
  readonly epochMax: number;
}

/** One loss, as `weft info` and `weft doctor` show it. */
export interface LostRecords {
  /** When an operator accepted it, ms since 1970. */
  readonly at: number;
  /** Instant of the last event that is kept of those before; absent: it is not known. */
  readonly since?: number;
  /** Number of the last record that was there. */
  readonly lastSeq: number;
  /** Number of the last that had been promised; null: it could not be told. */
  readonly promisedSeq: number | null;
  /** The first job id that is not known, and the one with which the head goes on. */
  readonly jobIdFrom: number;
  readonly given: GivenNumbers;
  /** The last job that is known to be lost; absent: all up to those that are skipped may be. */
  readonly jobIdTo?: number;
}
