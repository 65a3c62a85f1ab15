// Method and path of each route of the wing, for clients: no schema library is loaded for them.

import { addPaths } from '../../../kernel/api/paths.ts';
import type { pilotRoutes } from './pilots.ts';

type Routes = typeof pilotRoutes;

declare module '../../../kernel/api/routes.ts' {
  interface RouteTable extends Routes {}
}

addPaths({
  startFleet: 'POST /v1/pilots',
  listFleets: 'GET /v1/pilots',
  scaleFleet: 'PATCH /v1/pilots/:fleet',
  stopFleet: 'DELETE /v1/pilots/:fleet',
} satisfies Readonly<Record<keyof Routes, string>>);
