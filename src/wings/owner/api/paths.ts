// Method and path of each route of the wing, for clients: no schema library is loaded for them.

import { addPaths } from '../../../kernel/api/paths.ts';
import type { pauseRoutes } from './pauses.ts';

type Routes = typeof pauseRoutes;

declare module '../../../kernel/api/routes.ts' {
  interface RouteTable extends Routes {}
}

addPaths({
  pauseNode: 'POST /v1/nodes/:name/pause',
  unpauseNode: 'POST /v1/nodes/:name/unpause',
} satisfies Readonly<Record<keyof Routes, string>>);
