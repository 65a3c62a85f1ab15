// Method and path of each route of the wing, for clients: no schema library is loaded for them.

import { addPaths } from '../../../kernel/api/paths.ts';
import type { goalRoutes } from './goals.ts';

type Routes = typeof goalRoutes;

declare module '../../../kernel/api/routes.ts' {
  interface RouteTable extends Routes {}
}

addPaths({
  getGoals: 'GET /v1/goals',
  lookAtNodes: 'POST /v1/goals/look',
} satisfies Readonly<Record<keyof Routes, string>>);
