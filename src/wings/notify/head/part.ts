// What the wing adds to a head.

import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import type { NotifierKind } from '../../../kernel/model/notification.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { notificationRoutes } from '../api/notifications.ts';
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

const handlers: HandlersOf<typeof notificationRoutes> = { listNotifications };

export function notifyHead({ notifiers, audit, clusterName }: NotifyPorts): NotifyHead {
  let notifying: Notifying | null = null;
  return {
    handlers,
    begin(world) {
      if (notifiers !== null)
        notifying = new Notifying({ ...world, audit, clusterName }, notifiers);
      return { tick: () => notifying?.tick() };
    },
    openDoors: () => ({ services: { notifierHealth: () => notifying?.health ?? new Map() } }),
    viewJob({ engine }, record, isOwner) {
      const deliveries = viewDeliveries({ state: engine.state, at: engine.now() }, record);
      return { notifications: isOwner ? deliveries : null };
    },
    change: (to) => notifying?.change(to),
  };
}
