// Notifications: who is told of the end of jobs, and how the means of telling do.

import { z } from 'zod';
import { count, instant, instantOrNull } from '../../../kernel/api/common.ts';
import { deliveryView } from '../../../kernel/api/delivery.ts';
import { type RouteShape, USER } from '../../../kernel/api/route-shape.ts';
import { NOTIFIER_KINDS } from '../../../kernel/model/notification.ts';

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
  /** Null when the last attempt went well, or there was none. */
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
