// Method and path of each route of the wing, for clients: no schema library is loaded for them.

import { addPaths } from '../../../kernel/api/paths.ts';
import type { poolRoutes } from './pools.ts';

type Routes = typeof poolRoutes;

declare module '../../../kernel/api/routes.ts' {
  interface RouteTable extends Routes {}
}

addPaths({
  startPool: 'POST /v1/pools',
  listPools: 'GET /v1/pools',
  getPool: 'GET /v1/pools/:id',
  scalePool: 'PATCH /v1/pools/:id',
  stopPool: 'DELETE /v1/pools/:id',
  poolCalls: 'GET /v1/pools/:id/calls',
  openCalls: 'GET /v1/pools/:id/calls/socket',
  openWork: 'GET /v1/pools/:id/work',
} satisfies Readonly<Record<keyof Routes, string>>);
