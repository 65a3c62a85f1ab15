// What the wing adds to a head.

import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import type { EventsPart } from '../../../kernel/head/http/public-events.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import { noticeEvents } from '../api/events.ts';
import type { noticeRoutes } from '../api/notices.ts';
import type { NoticeEvent } from '../machine/notice.ts';
import { clearNotice, getNotice, setNotice } from './handlers.ts';

const events: EventsPart<NoticeEvent> = { kinds: noticeEvents };

const handlers: HandlersOf<typeof noticeRoutes> = { setNotice, getNotice, clearNotice };

export const head: HeadPart = { handlers, events };
