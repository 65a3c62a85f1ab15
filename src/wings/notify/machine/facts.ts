// Notifications: who is to be told of the end of a job or batch, and who has been.

import type { News } from '../../../kernel/model/notification.ts';

export interface NotificationsFacts {
  /** By subject (`formatSubject`), oldest first; those over are kept for a while to be shown. */
  readonly notifications: Map<string, Notification>;
}

export interface Notification {
  /** The subject of the notification as text. */
  readonly id: string;
  readonly news: News;
  /** Since when it is to be told. */
  readonly at: number;
  /** The clock was set by so much since then. Absent: by nothing. `at` stays: attempts name it. */
  setByMs?: number;
  /** In the order of the wishes. */
  readonly deliveries: readonly Delivery[];
}

/** One of those who are to be told. */
export interface Delivery {
  /** `matrix:@ann:lab`. */
  readonly target: string;
  state: 'waiting' | 'told' | 'given_up';
  /** Attempts that failed. */
  tries: number;
  /** When the last attempt ended; null: there was none. */
  triedAt: number | null;
  /** Not before this instant again. */
  nextAt: number;
  /** Why the last attempt failed; null: none has. */
  why: string | null;
}
