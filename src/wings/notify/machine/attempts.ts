// What is to be told now, derived from the state; and what comes of an attempt.

import { ok } from '../../../kernel/base/result.ts';
import { needRole } from '../../../kernel/machine/authority.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { Answer, Step } from '../../../kernel/machine/step.ts';
import type { Actor } from '../../../kernel/model/actor.ts';
import {
  NOTIFICATIONS_PER_MESSAGE_MAX,
  NOTIFY_PAUSE_MAX_MS,
  NOTIFY_PAUSE_MIN_MS,
  NOTIFY_TRIES_MAX,
} from '../../../kernel/model/limits.ts';
import type { Attempt } from '../../../kernel/model/notification.ts';
import type { NotificationCommand } from './events.ts';
import type { Delivery, Notification } from './facts.ts';

/** One message to one target; of several notifications when they have gathered. */
export interface DueMessage {
  readonly target: string;
  readonly notifications: readonly Notification[];
}

/**
 * What is due, whoever has waited longest first. Who is to be told by one target stands in one
 * line: while its first waits for another attempt, so do those behind.
 */
export function outstandingNotifications({ indexes: { lines } }: State, now: number): DueMessage[] {
  const due: (DueMessage & { readonly since: number })[] = [];
  for (const [target, line] of lines) {
    const [first] = line.values();
    if (first === undefined || first.nextAt > now) continue;
    const most = isSingle(target) ? 1 : NOTIFICATIONS_PER_MESSAGE_MAX;
    const notifications = take(line.keys(), most);
    due.push({ target, notifications, since: first.triedAt ?? first.nextAt });
  }
  return due
    .sort((a, b) => a.since - b.since)
    .map(({ target, notifications }) => ({ target, notifications }));
}

/** Programs get one event at a time, people may read several at once. */
function isSingle(target: string): boolean {
  return target.startsWith('webhook:') || target.startsWith('command:');
}

function take(all: Iterable<Notification>, most: number): Notification[] {
  const some: Notification[] = [];
  for (const one of all) {
    some.push(one);
    if (some.length === most) break;
  }
  return some;
}

export function decideAttempt(step: Step, command: NotificationCommand, actor: Actor): Answer {
  const allowed = needRole(actor, 'admin', 'noting that somebody was told');
  if (!allowed.ok) return allowed;
  const line = step.state.indexes.lines.get(command.target);
  let count = 0;
  for (const { id, at } of command.told) {
    const notification = step.state.notifications.get(id);
    const delivery = notification === undefined ? undefined : line?.get(notification);
    if (notification?.at !== at || delivery === undefined) continue;
    note(step, { notification, delivery, attempt: command.attempt });
    count += 1;
  }
  return ok({ kind: 'changed', count });
}

interface Noted {
  readonly notification: Notification;
  readonly delivery: Delivery;
  readonly attempt: Attempt;
}

function note(step: Step, { notification, delivery: one, attempt }: Noted): void {
  const { subject } = notification.news;
  const delivery = notification.deliveries.indexOf(one);
  if (attempt.kind === 'told') {
    step.emit({ kind: 'notification_told', subject, delivery });
    return;
  }
  const { why, afterMs = 0 } = attempt;
  const nextAt =
    step.at + Math.max(pauseAfter(one.tries + 1), Math.min(afterMs, NOTIFY_PAUSE_MAX_MS));
  const giveUpMs = step.settings.notify?.giveUpMs ?? 0;
  const isLast =
    one.tries + 1 >= NOTIFY_TRIES_MAX ||
    nextAt > notification.at + (notification.setByMs ?? 0) + giveUpMs;
  if (isLast) step.emit({ kind: 'notification_given_up', subject, delivery, why });
  else step.emit({ kind: 'notification_failed', subject, delivery, why, nextAt });
}

/** Twice as long after each failure. */
function pauseAfter(tries: number): number {
  return Math.min(NOTIFY_PAUSE_MIN_MS * 2 ** (tries - 1), NOTIFY_PAUSE_MAX_MS);
}
