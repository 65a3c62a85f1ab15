// Telling one target of the end of a job or batch, as the API shows it.

import { z } from 'zod';
import { count, instantOrNull } from './common.ts';

/** What became of telling one target. */
export const deliveryView = z.object({
  /** `matrix:@ann:lab`; of a webhook the host only. */
  to: z.string(),
  /** `later`: when the job is done. `unknown`: it was so long ago that no record is left. */
  state: z.enum(['later', 'waiting', 'told', 'given_up', 'unknown']),
  /** Attempts that failed. */
  tries: count,
  triedAt: instantOrNull,
  /** The next attempt, while it waits. */
  nextAt: instantOrNull,
  /** Why the last attempt failed. */
  why: z.string().nullable(),
  /** All of it, for people. */
  words: z.string(),
});
export type DeliveryView = z.infer<typeof deliveryView>;
