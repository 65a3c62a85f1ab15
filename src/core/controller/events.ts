// Facts, in the past tense: the only thing the journal keeps and the only way state changes.

import type { HeadEvent } from './head/events.ts';
import type { JobEvent } from './jobs/events.ts';
import type { MaintenanceEvent } from './maintenance/events.ts';
import type { NodeEvent } from './nodes/events.ts';
import type { PartitionEvent } from './partitions/events.ts';
import type { ReservationEvent } from './reservations/events.ts';
import type { TaskEvent } from './tasks/events.ts';
import type { UserEvent } from './users/events.ts';

/**
 * Raised when an old record would be read wrongly; `apply` knows all earlier ones (test/records).
 */
export const RECORD_VERSION = 1;

/** One step: what one input led to. Written whole or not at all. */
export interface StepRecord {
  readonly v: number;
  /** Wall clock of the head, ms since 1970. */
  readonly at: number;
  readonly events: readonly Event[];
}

/** Each noun declares its own. */
export type Event =
  | HeadEvent
  | UserEvent
  | JobEvent
  | TaskEvent
  | NodeEvent
  | ReservationEvent
  | MaintenanceEvent
  | PartitionEvent;

/** The event of one kind. */
export type Of<K extends Event['kind']> = Extract<Event, { kind: K }>;
