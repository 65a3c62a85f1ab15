// Notifications as the API shows them.

import type { DeliveryView } from '../../../kernel/api/delivery.ts';
import type { JobRecord } from '../../../kernel/head/answers/job-record.ts';
import type { State } from '../../../kernel/machine/state.ts';
import { formatBatch } from '../../../kernel/model/batch.ts';
import { formatSubject, type Subject, shownTarget } from '../../../kernel/model/notification.ts';
import type { ListNotificationsReply } from '../api/notifications.ts';
import type { Delivery } from '../machine/facts.ts';
import { sayDelivery } from './notification-words.ts';

/** Shown in one answer. */
const SHOWN_MAX = 1000;

/** Whom a job notifies when it is done, or has. */
export function viewDeliveries(
  { state, at }: { readonly state: State; readonly at: number },
  { id, spec, outcome }: Pick<JobRecord, 'id' | 'spec' | 'outcome'>,
): DeliveryView[] {
  const { batch } = spec;
  const subject: Subject =
    batch === undefined ? { kind: 'job', jobId: id } : { kind: 'batch', batch: formatBatch(batch) };
  const known = state.notifications.get(formatSubject(subject));
  if (known !== undefined) return known.deliveries.map((one) => viewDelivery(one, at));
  return (spec.notify ?? []).map((target) => {
    const to = shownTarget(target);
    const nothing = { tries: 0, triedAt: null, nextAt: null, why: null };
    return outcome === null || batch !== undefined
      ? {
          to,
          state: 'later',
          ...nothing,
          words: `${to}, when ${batch === undefined ? 'it' : 'its batch'} is done`,
        }
      : {
          to,
          state: 'unknown',
          ...nothing,
          words: `${to}; no record is left of whether it was notified`,
        };
  });
}

function viewDelivery(delivery: Delivery, at: number): DeliveryView {
  const { target, state, tries, triedAt, nextAt, why } = delivery;
  const to = shownTarget(target);
  const next = state === 'waiting' ? nextAt : null;
  return { to, state, tries, triedAt, nextAt: next, why, words: sayDelivery(delivery, at) };
}

/** Newest first; `owner` null: those of all users. */
export function viewNotifications(
  state: State,
  at: number,
  owner: string | null,
): ListNotificationsReply['notifications'] {
  const views: ListNotificationsReply['notifications'] = [];
  for (const { id, news, deliveries } of [...state.notifications.values()].reverse()) {
    if (owner !== null && news.owner !== owner) continue;
    for (const delivery of deliveries) {
      views.push({ subject: id, owner: news.owner, ...viewDelivery(delivery, at) });
    }
    if (views.length >= SHOWN_MAX) break;
  }
  return views.slice(0, SHOWN_MAX);
}
