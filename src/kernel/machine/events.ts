// Facts, in the past tense: the only thing the journal keeps and the only way state changes.

import type { Event } from './declared.ts';

/**
 * Raised when an older release would read a newer record wrongly; `apply` knows all before
 * (test/records). 2: 0.1.0 does not ask which release served a store last.
 */
export const RECORD_VERSION = 2;

/** One step: what one input led to. Written whole or not at all. */
export interface StepRecord {
  readonly v: number;
  /** Wall clock of the head, ms since 1970. */
  readonly at: number;
  readonly events: readonly Event[];
}

/** The event of one kind. */
export type Of<K extends Event['kind']> = Extract<Event, { kind: K }>;
