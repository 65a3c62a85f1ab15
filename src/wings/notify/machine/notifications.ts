// Notifications as a noun.

import { assert } from '../../../kernel/base/assert.ts';
import type { Noun } from '../../../kernel/machine/noun.ts';
import type { State } from '../../../kernel/machine/state.ts';
import * as apply from './apply.ts';
import { decideAttempt } from './attempts.ts';
import type { Notification } from './facts.ts';

export interface NotificationsData {
  /** Absent: there are none. */
  readonly notifications?: readonly Notification[];
}

export const notifications: Noun<'notifications', NotificationsData> = {
  commands: { note_attempt: decideAttempt },
  events: {
    notification_due: apply.applyDue,
    notification_told: apply.applyTold,
    notification_failed: apply.applyFailed,
    notification_given_up: apply.applyGivenUp,
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
    for (const one of state.notifications.values()) apply.indexNotification(state, one);
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
