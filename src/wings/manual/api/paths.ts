// Method and path of each route of the wing, for clients: no schema library is loaded for them.

import { addPaths } from '../../../kernel/api/paths.ts';
import type { manualRoutes } from './manual.ts';

type Routes = typeof manualRoutes;

declare module '../../../kernel/api/routes.ts' {
  interface RouteTable extends Routes {}
}

addPaths({
  manual: 'GET /docs',
  manualFile: 'GET /docs/:file',
  manualFileIn: 'GET /docs/:folder/:file',
} satisfies Readonly<Record<keyof Routes, string>>);
