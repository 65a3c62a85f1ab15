// Method and path of each route of the wing, for clients: no schema library is loaded for them.

import { addPaths } from '../../../kernel/api/paths.ts';
import type { siteRoutes } from './sites.ts';

type Routes = typeof siteRoutes;

declare module '../../../kernel/api/routes.ts' {
  interface RouteTable extends Routes {}
}

addPaths({
  listSites: 'GET /v1/sites',
  getSite: 'GET /v1/sites/:name',
  pauseSite: 'POST /v1/sites/:name/pause',
  resumeSite: 'POST /v1/sites/:name/resume',
} satisfies Readonly<Record<keyof Routes, string>>);
