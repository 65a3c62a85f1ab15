// Method and path of each route of the wing, for clients: no schema library is loaded for them.

import { addPaths } from '../../../kernel/api/paths.ts';
import type { labRoutes } from './room.ts';

type Routes = typeof labRoutes;

declare module '../../../kernel/api/routes.ts' {
  interface RouteTable extends Routes {}
}

addPaths({ showRoom: 'GET /v1/room' } satisfies Readonly<Record<keyof Routes, string>>);
