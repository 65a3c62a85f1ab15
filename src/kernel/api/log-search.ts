// Captured output searched by the head.

import { z } from 'zod';
import { count, queryNumber } from './common.ts';
import { logsQuery } from './jobs.ts';

export const searchLogsQuery = logsQuery.omit({ limit: true, follow: true }).extend({
  /** In whatever case, as it stands in one line; colours between its letters do no harm. */
  text: z.string().min(1).max(200),
  /** Lines at most; 200 unless told. */
  limit: queryNumber(1, 1000).optional(),
});
/** Part of long output is searched for one answer: go on with `next` as `offset` until `isEnd`. */
export const searchLogsReply = z.object({
  /** Which start of the task the output is of. */
  epoch: count,
  /** Bytes that the head has of the output now. */
  size: count,
  lines: z.array(
    z.object({
      /** Where the line begins, in bytes. */
      at: count,
      /** Without what is beyond 4,096 bytes. */
      text: z.string(),
      cut: count,
    }),
  ),
  /** Where to go on: also later, when more has come. */
  next: count,
  /** All that is there now was searched. */
  isEnd: z.boolean(),
});
export type SearchLogsReply = z.infer<typeof searchLogsReply>;
