// What happens to the head itself: its starts, its store and its identity.

import type { ClockReading } from '../../model/clock.ts';
import type { Life } from '../../model/life.ts';
import type { GivenNumbers, LostRecords } from '../../model/loss.ts';
import type { Behind } from './facts.ts';

export type HeadEvent =
  /** `life`: absent where nobody counts them. */
  | { readonly kind: 'head_started'; readonly life?: Life }
  /** At a start of the head on a machine that was started anew. */
  | { readonly kind: 'clock_read'; readonly reading: ClockReading }
  /** Somebody has set the head's wall clock, below zero: back. Instants that count move with it. */
  | { readonly kind: 'clock_stepped'; readonly byMs: number; readonly reading: ClockReading }
  /** A node has heard more of this head than its store has. */
  | { readonly kind: 'head_behind'; readonly behind: Omit<Behind, 'since'> }
  /** The head goes on without records that it had accepted. */
  | {
      readonly kind: 'loss_accepted';
      readonly loss: Omit<LostRecords, 'at'>;
      /** What comes after it is of this one. */
      readonly life?: Life;
    }
  /**
   * The store was copied to where it is: no number is given again that it may have given out where
   * it was before. `jobIdFrom`: the first such job.
   */
  | { readonly kind: 'store_copied'; readonly jobIdFrom: number; readonly given: GivenNumbers }
  /** Agents and users elsewhere know the head by this certificate from here on. */
  | { readonly kind: 'identity_known'; readonly fingerprint: string };
