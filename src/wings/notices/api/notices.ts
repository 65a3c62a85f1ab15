// The notice: an operator's message to all users.

import { z } from 'zod';
import { changedReply, instant, instantOrNull, plainLine } from '../../../kernel/api/common.ts';
import { OPERATOR, type RouteShape, USER } from '../../../kernel/api/route-shape.ts';
import { NOTICE_LENGTH_MAX } from '../../../kernel/model/limits.ts';

export const setNoticeRequest = z.strictObject({
  text: plainLine.trim().min(1).max(NOTICE_LENGTH_MAX),
  /** Users see it from then on; absent: at once. */
  from: instant.optional(),
  /** When the notice is cleared; absent: it stays until somebody clears it. */
  until: instant.optional(),
});

export const noticeView = z.object({
  text: z.string(),
  from: instantOrNull,
  until: instantOrNull,
  by: z.string(),
  at: instant,
  /** The notice's time has come, by the head's clock. */
  shown: z.boolean(),
});
export type NoticeView = z.infer<typeof noticeView>;

export const noticeRoutes = {
  setNotice: {
    summary: 'Set the message that all users see; it replaces the one before.',
    access: OPERATOR,
    body: setNoticeRequest,
    reply: changedReply,
  },
  getNotice: {
    summary: "The operators' message to all users; null: there is none.",
    access: USER,
    reply: z.object({ notice: noticeView.nullable() }),
  },
  clearNotice: {
    summary: 'Take the message away.',
    access: OPERATOR,
    reply: changedReply,
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
