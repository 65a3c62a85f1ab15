// What can be asked about notifications, and what happens to them.

import type { News, Subject } from '../../model/notification.ts';

/** How an attempt to tell somebody went. */
export type Attempt =
  | { readonly kind: 'told' }
  /** `afterMs`: the other side wants to be left alone so long. */
  | { readonly kind: 'failed'; readonly why: string; readonly afterMs?: number };

/** What came of telling one target of these subjects, in one message. From the head itself only. */
export interface NotificationCommand {
  readonly kind: 'note_attempt';
  readonly target: string;
  /** Ids of notifications. */
  readonly ids: readonly string[];
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
