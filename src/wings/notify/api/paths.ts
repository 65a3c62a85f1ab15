// Method and path of each route of the wing, for clients: no schema library is loaded for them.

import { addPaths } from '../../../kernel/api/paths.ts';
import type { notificationRoutes } from './notifications.ts';

type Routes = typeof notificationRoutes;

declare module '../../../kernel/api/routes.ts' {
  interface RouteTable extends Routes {}
}

addPaths({
  listNotifications: 'GET /v1/notifications',
} satisfies Readonly<Record<keyof Routes, string>>);
