// What the machine's tables of types get from this wing.

import type { Declares } from '../../../kernel/machine/declared.ts';
import type { NotificationCommand, NotificationEvent } from './events.ts';
import type { Delivery, Notification, NotificationsFacts } from './facts.ts';

declare module '../../../kernel/machine/declared.ts' {
  interface Declared {
    readonly notifications: Declares<NotificationCommand, NotificationEvent, NotificationsFacts>;
  }
}

declare module '../../../kernel/machine/indexes.ts' {
  interface Indexes {
    /** What each target is still to be told, oldest first. */
    readonly lines: Map<string, Map<Notification, Delivery>>;
  }
}
