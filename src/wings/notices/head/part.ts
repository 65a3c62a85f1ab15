// What the wing adds to a head.

import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import type { noticeRoutes } from '../api/notices.ts';
import { clearNotice, getNotice, setNotice } from './handlers.ts';

const handlers: HandlersOf<typeof noticeRoutes> = { setNotice, getNotice, clearNotice };

export const head: HeadPart = { handlers };
