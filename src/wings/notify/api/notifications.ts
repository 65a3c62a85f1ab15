// Notifications: who is told of the end of jobs, and how the means of telling do.

import { z } from 'zod';
import { count, instant, instantOrNull } from '../../../kernel/api/common.ts';
import { type RouteShape, USER } from '../../../kernel/api/route-shape.ts';
import { NOTIFIER_KINDS } from '../../../kernel/model/notification.ts';

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

const notificationView = deliveryView.extend({
  /** `job 42`, `batch lab/heat@2`. */
  subject: z.string(),
  owner: z.string(),
});

const notifierView = z.object({
  kind: z.enum(NOTIFIER_KINDS),
  /** Deliveries that wait. */
  waiting: count,
  /** When somebody was told last, since the head has started. */
  toldAt: instantOrNull,
  /** Null: the last attempt went well, or there was none. */
  failure: z.object({ at: instant, why: z.string() }).nullable(),
});

export const listNotificationsReply = z.object({
  /** Those that the site has set up. */
  notifiers: z.array(notifierView),
  /** One's own, newest first; those of all users for operators. At most 1000. */
  notifications: z.array(notificationView),
});
export type ListNotificationsReply = z.infer<typeof listNotificationsReply>;

export const notificationRoutes = {
  listNotifications: {
    summary: 'Who was or is to be notified, and how the means of notifying do.',
    access: USER,
    reply: listNotificationsReply,
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
