// What the wing adds to the API.

import type { ApiPart } from '../../../kernel/api/part.ts';
import { notificationEvents } from './events.ts';
import { notificationRoutes } from './notifications.ts';

export const api: ApiPart = {
  routes: notificationRoutes,
  events: notificationEvents,
};
