// Events of the notice as the stream shows them.

import { type EventKinds, shownTo } from '../../../kernel/api/event-kinds.ts';

export const noticeEvents = {
  notice_set: shownTo('all', 'Somebody set the message that all users see.', 'notice'),
  notice_cleared: shownTo('all', 'That message was taken away, or its time is over.', 'by'),
} as const satisfies EventKinds;
