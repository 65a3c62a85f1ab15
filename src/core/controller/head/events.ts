// What happens to the head itself: its starts, its store and its identity.

import type { LostRecords } from '../../model/loss.ts';

export type HeadEvent =
  | { readonly kind: 'head_started' }
  /** The head goes on without records that it had accepted. */
  | { readonly kind: 'loss_accepted'; readonly loss: Omit<LostRecords, 'at'> }
  /** Agents and users elsewhere know the head by this certificate from here on. */
  | { readonly kind: 'identity_known'; readonly fingerprint: string };
