// What happens to the head itself: its starts, its store and its identity.

import type { Life } from '../../model/life.ts';
import type { LostRecords } from '../../model/loss.ts';
import type { Behind } from './facts.ts';

export type HeadEvent =
  /** `life`: absent where nobody counts them. */
  | { readonly kind: 'head_started'; readonly life?: Life }
  /** A node has heard more of this head than its store has. */
  | { readonly kind: 'head_behind'; readonly behind: Omit<Behind, 'since'> }
  /** The head goes on without records that it had accepted. */
  | {
      readonly kind: 'loss_accepted';
      readonly loss: Omit<LostRecords, 'at'>;
      /** What comes after it is of this one. */
      readonly life?: Life;
    }
  /** Agents and users elsewhere know the head by this certificate from here on. */
  | { readonly kind: 'identity_known'; readonly fingerprint: string };
