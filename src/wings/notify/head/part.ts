// What the wing adds to a head.

import { ok } from '../../../kernel/base/result.ts';
import type { Handler, HandlersOf } from '../../../kernel/head/http/call.ts';
import type { EventsPart } from '../../../kernel/head/http/public-events.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import { hasRole } from '../../../kernel/model/actor.ts';
import { type NotifierKind, shownTarget } from '../../../kernel/model/notification.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import { notificationEvents } from '../api/events.ts';
import type { notificationRoutes } from '../api/notifications.ts';
import type { NotificationEvent } from '../machine/events.ts';
import { viewDeliveries, viewNotifications } from './notification-view.ts';
import type { Notifiers } from './notifiers.ts';
import { type NotifierHealth, Notifying } from './notifying.ts';

/** Figures of who was notified, and how the notifiers do. */
const listNotifications: Handler<'listNotifications'> = (services, { actor }) => {
  const { engine, notifierHealth } = services;
  const { state } = engine;
  const waiting = (kind: string): number => {
    const lines = [...state.indexes.lines].filter(([target]) => target.startsWith(`${kind}:`));
    return lines.reduce((sum, [, line]) => sum + line.size, 0);
  };
  const notifiers = [...notifierHealth()].map(([kind, health]) => {
    return { kind, waiting: waiting(kind), ...health };
  });
  const owner = hasRole(actor, 'operator') ? null : actor.name;
  return ok({ notifiers, notifications: viewNotifications(state, engine.now(), owner) });
};

declare module '../../../kernel/head/http/services.ts' {
  interface Services {
    /** Those notifiers that are set up, with how they do. */
    readonly notifierHealth: () => ReadonlyMap<NotifierKind, NotifierHealth>;
  }
}

export interface NotifyPorts {
  /** How those are told who want to know of the end of a job; null: nobody is. */
  readonly notifiers: Notifiers | null;
  readonly audit: Log;
  readonly clusterName: string;
}

export interface NotifyHead extends HeadPart {
  /** Tells by these from the next attempt on. */
  change(notifiers: Notifiers): void;
}

const views = {
  notification_due: ({ targets }: NotificationDue) => ({ targets: targets.map(shownTarget) }),
};
type NotificationDue = Extract<NotificationEvent, { kind: 'notification_due' }>;

const events: EventsPart<NotificationEvent, typeof views> = {
  kinds: notificationEvents,
  views,
  jobIdOf(event) {
    const { subject } = event.kind === 'notification_due' ? event.news : event;
    return subject.kind === 'job' ? subject.jobId : null;
  },
};

const handlers: HandlersOf<typeof notificationRoutes> = { listNotifications };

export function notifyHead({ notifiers, audit, clusterName }: NotifyPorts): NotifyHead {
  let notifying: Notifying | null = null;
  return {
    handlers,
    events,
    begin(world) {
      if (notifiers !== null)
        notifying = new Notifying({ ...world, audit, clusterName }, notifiers);
      return { tick: () => notifying?.tick() };
    },
    openListeners: () => ({ services: { notifierHealth: () => notifying?.health ?? new Map() } }),
    viewJob({ engine }, record, isOwner) {
      const deliveries = viewDeliveries({ state: engine.state, at: engine.now() }, record);
      return { notifications: isOwner ? deliveries : null };
    },
    change: (to) => notifying?.change(to),
  };
}
