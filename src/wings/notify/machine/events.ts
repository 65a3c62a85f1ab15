// What can be asked about notifications, and what happens to them.

import type { Attempt, News, Subject } from '../../../kernel/model/notification.ts';

/** What came of telling one target of these subjects, in one message. From the head itself only. */
export interface NotificationCommand {
  readonly kind: 'note_attempt';
  readonly target: string;
  /** Since when each was to be told: another end of the same batch is not told with it. */
  readonly told: readonly { readonly id: string; readonly at: number }[];
  readonly attempt: Attempt;
}

export type NotificationEvent =
  /** Somebody wants to know of this end. */
  | {
      readonly kind: 'notification_due';
      readonly news: News;
      readonly targets: readonly string[];
    }
  | (OneDelivery & { readonly kind: 'notification_told' })
  | (OneDelivery & {
      readonly kind: 'notification_failed';
      readonly why: string;
      readonly nextAt: number;
    })
  /** Tried too often, or for too long. */
  | (OneDelivery & { readonly kind: 'notification_given_up'; readonly why: string });

interface OneDelivery {
  readonly subject: Subject;
  /** Which of its deliveries, from 0: a target may hold a secret, and events are shown. */
  readonly delivery: number;
}
