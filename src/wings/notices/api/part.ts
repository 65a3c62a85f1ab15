// What the wing adds to the API.

import type { ApiPart } from '../../../kernel/api/part.ts';
import { noticeEvents } from './events.ts';
import { noticeRoutes } from './notices.ts';

export const api: ApiPart = {
  routes: noticeRoutes,
  events: noticeEvents,
};
