// Standard input that a client sends to its job.

import { z } from 'zod';
import { count } from './common.ts';

/** In base64, some 1.5 MiB: well below what a request may have. */
const DATA_LENGTH_MAX = 2_000_000;

export const feedRequest = z.strictObject({
  /** Which start of the job this is meant for, as an answer said; 0: whichever runs. */
  run: count,
  /** Position of the first byte, from the beginning of the input. */
  offset: count,
  data: z.base64().max(DATA_LENGTH_MAX),
  /** Nothing comes after this piece. */
  end: z.boolean(),
  /** The run has all of it: answered when there is another run, or none will be. */
  wait: z.boolean().optional(),
});

export const feedReply = z.object({
  run: count,
  /** Where to go on: less than the end of the piece when it could not be passed on yet. */
  offset: count,
  /** The process has been given all of the piece, its end included. */
  taken: z.boolean(),
  /** The job is done: nobody reads any more. */
  done: z.boolean(),
});
export type FeedReply = z.infer<typeof feedReply>;
