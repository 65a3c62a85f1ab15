// Method and path of each route of the wing, for clients: no schema library is loaded for them.

import { addPaths } from '../../../kernel/api/paths.ts';
import type { loginRoutes } from './logins.ts';

type Routes = typeof loginRoutes;

declare module '../../../kernel/api/routes.ts' {
  interface RouteTable extends Routes {}
}

addPaths({
  beginLogin: 'POST /v1/logins',
  takeLogin: 'POST /v1/logins/take',
  showLogin: 'GET /v1/logins/:code',
  answerLogin: 'PUT /v1/logins/:code',
  listTrustedNodes: 'GET /v1/trusted-nodes',
  trustNode: 'PUT /v1/trusted-nodes/:name',
  distrustNode: 'DELETE /v1/trusted-nodes/:name',
} satisfies Readonly<Record<keyof Routes, string>>);
