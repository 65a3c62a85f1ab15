// Notifications as a noun.

import { assert, present } from '../../../kernel/base/assert.ts';
import type { Of } from '../../../kernel/machine/events.ts';
import type { Noun } from '../../../kernel/machine/noun.ts';
import type { State } from '../../../kernel/machine/state.ts';
import { NOTIFICATIONS_KEPT_MAX } from '../../../kernel/model/limits.ts';
import { formatSubject } from '../../../kernel/model/notification.ts';
import { decideAttempt } from './attempts.ts';
import type { Delivery, Notification } from './facts.ts';

export interface NotificationsData {
  /** Absent: there are none. */
  readonly notifications?: readonly Notification[];
}

export const notifications: Noun<'notifications', NotificationsData> = {
  commands: { note_attempt: decideAttempt },
  events: {
    notification_due(state, event, at) {
      const { news, targets } = event;
      // A resumed batch ends again: what still waits to be told of its first end is no news.
      const before = state.notifications.get(formatSubject(news.subject));
      if (before !== undefined) forget(state, before);
      const deliveries = targets.map((target): Delivery => {
        return { target, state: 'waiting', tries: 0, triedAt: null, nextAt: at, why: null };
      });
      const notification = { id: formatSubject(news.subject), news, at, deliveries };
      state.notifications.set(notification.id, notification);
      indexNotification(state, notification);
      forgetOldest(state);
    },
    notification_told(state, event, at) {
      const { notification, delivery } = find(state, event);
      delivery.triedAt = at;
      delivery.why = null;
      close(state, { notification, delivery, as: 'told' });
    },
    notification_failed(state, event, at) {
      const { delivery } = find(state, event);
      delivery.tries += 1;
      delivery.triedAt = at;
      delivery.nextAt = event.nextAt;
      delivery.why = event.why;
    },
    notification_given_up(state, event, at) {
      const { notification, delivery } = find(state, event);
      delivery.tries += 1;
      delivery.triedAt = at;
      delivery.why = event.why;
      close(state, { notification, delivery, as: 'given_up' });
    },
  },
  facts: () => ({ notifications: new Map() }),
  save: ({ notifications: all }) =>
    all.size === 0 ? {} : { notifications: [...all.values()].map(copied) },
  load(state, { notifications: all = [] }) {
    for (const one of all) state.notifications.set(one.id, copied(one));
  },
  rebase(state, byMs) {
    for (const one of state.notifications.values()) {
      one.setByMs = (one.setByMs ?? 0) + byMs;
      for (const delivery of one.deliveries) {
        delivery.nextAt += byMs;
        if (delivery.triedAt !== null) delivery.triedAt += byMs;
      }
    }
  },
  index(state) {
    for (const one of state.notifications.values()) indexNotification(state, one);
  },
  check: checkNotifications,
};

function copied({ deliveries, ...rest }: Notification): Notification {
  return { ...rest, deliveries: deliveries.map((one) => ({ ...one })) };
}

/** Every one that waits stands in its target's line, and nothing else does. */
function checkNotifications({ notifications: all, indexes: { lines }, jobs }: State): void {
  let waiting = 0;
  for (const [id, notification] of all) {
    const { subject } = notification.news;
    const job = subject.kind === 'job' ? jobs.get(subject.jobId) : undefined;
    assert(job === undefined || job.outcome !== null, `${id} is told of when it is done`);
    for (const delivery of notification.deliveries) {
      if (delivery.state !== 'waiting') continue;
      waiting += 1;
      const inLine = lines.get(delivery.target)?.get(notification);
      assert(inLine === delivery, `${id} waits in the line of its target`);
    }
  }
  let inLines = 0;
  for (const line of lines.values()) inLines += line.size;
  assert(inLines === waiting, `${waiting} deliveries wait, ${inLines} stand in lines`);
}

/** Each target has a line of those that wait for it, oldest first. */
function indexNotification(state: State, notification: Notification): void {
  const { lines } = state.indexes;
  for (const delivery of notification.deliveries) {
    if (delivery.state !== 'waiting') continue;
    const line = lines.get(delivery.target) ?? new Map<Notification, Delivery>();
    line.set(notification, delivery);
    lines.set(delivery.target, line);
  }
}

function isOver({ deliveries }: Notification): boolean {
  return deliveries.every(({ state }) => state !== 'waiting');
}

interface Closing {
  readonly notification: Notification;
  readonly delivery: Delivery;
  readonly as: 'told' | 'given_up';
}

function close(state: State, { notification, delivery, as }: Closing): void {
  delivery.state = as;
  leaveLine(state.indexes.lines, delivery.target, notification);
  if (isOver(notification)) forgetOldest(state);
}

function forget({ notifications, indexes: { lines } }: State, notification: Notification): void {
  notifications.delete(notification.id);
  for (const { target } of notification.deliveries) leaveLine(lines, target, notification);
}

function leaveLine(lines: Lines, target: string, notification: Notification): void {
  const line = lines.get(target);
  line?.delete(notification);
  if (line?.size === 0) lines.delete(target);
}

type Lines = State['indexes']['lines'];

/** What still waits is never forgotten. */
function forgetOldest({ notifications }: State): void {
  if (notifications.size <= NOTIFICATIONS_KEPT_MAX) return;
  for (const [id, notification] of notifications) {
    if (!isOver(notification)) continue;
    notifications.delete(id);
    return;
  }
}

function find(
  state: State,
  { subject, delivery: at }: Pick<Of<'notification_told'>, 'subject' | 'delivery'>,
): { readonly notification: Notification; readonly delivery: Delivery } {
  const id = formatSubject(subject);
  const notification = present(state.notifications.get(id), `the notification of ${id}`);
  return { notification, delivery: present(notification.deliveries[at], `delivery ${at}`) };
}
