// What a command answers when it is not refused. Commands are imperative and may be refused; the
// actor comes from the authentication, beside the command, never inside it.

import type { BatchName } from '../model/batch.ts';
import type { Refusal } from '../model/errors.ts';
import type { JobId } from '../model/ids.ts';
import type { Reason } from '../model/reason.ts';
import type { Reservation } from '../model/reservation.ts';

export type Reply =
  | { readonly kind: 'reserved'; readonly reservation: Reservation }
  | { readonly kind: 'submitted'; readonly jobId: JobId; readonly again: boolean }
  /** `jobCount`: how many of its jobs run. */
  | {
      readonly kind: 'batch_submitted';
      readonly batch: BatchName;
      readonly jobCount: number;
      readonly again: boolean;
    }
  /** How many tasks it changed. */
  | { readonly kind: 'changed'; readonly count: number }
  /** What an external scheduler asked for does not start, and why. */
  | { readonly kind: 'not_started'; readonly reason: Reason }
  /** The hello came from a second machine; what was seen is noted. */
  | { readonly kind: 'node_cloned'; readonly refusal: Refusal }
  | { readonly kind: 'maintenance_planned'; readonly id: string }
  | { readonly kind: 'fleet_started'; readonly fleet: string }
  | { readonly kind: 'done' };
