// Method and path of each route of the wing, for clients: no schema library is loaded for them.

import { addPaths } from '../../../kernel/api/paths.ts';
import type { startRoutes } from './start-job.ts';

type Routes = typeof startRoutes;

declare module '../../../kernel/api/routes.ts' {
  interface RouteTable extends Routes {}
}

addPaths({
  startJob: 'POST /v1/jobs/:id/start',
} satisfies Readonly<Record<keyof Routes, string>>);
