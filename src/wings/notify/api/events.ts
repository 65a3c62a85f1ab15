// Events of notifications as the stream shows them.

import { type EventKinds, shownTo } from '../../../kernel/api/event-kinds.ts';

export const notificationEvents = {
  notification_due: shownTo('job', 'The job is done, and somebody is to be told.', 'news targets'),
  notification_told: shownTo(
    'job',
    'One of those who are to be told was told.',
    'subject delivery',
  ),
  notification_failed: shownTo(
    'job',
    'One of them could not be told; it is tried again.',
    'subject delivery why nextAt',
  ),
  notification_given_up: shownTo(
    'job',
    'One of them could not be told, and is not tried again.',
    'subject delivery why',
  ),
} as const satisfies EventKinds;
