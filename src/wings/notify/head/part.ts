// What the wing adds to a head.

import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import type { EventsPart } from '../../../kernel/head/http/public-events.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import { type NotifierKind, shownTarget } from '../../../kernel/model/notification.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import { notificationEvents } from '../api/events.ts';
import type { notificationRoutes } from '../api/notifications.ts';
import type { NotificationEvent } from '../machine/events.ts';
import { listNotifications } from './handlers.ts';
import { viewDeliveries } from './notification-view.ts';
import type { Notifiers } from './notifiers.ts';
import { type NotifierHealth, Notifying } from './notifying.ts';

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
