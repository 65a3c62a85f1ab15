// Method and path of each route of the wing, for clients: no schema library is loaded for them.

import { addPaths } from '../../../kernel/api/paths.ts';
import type { noticeRoutes } from './notices.ts';

type Routes = typeof noticeRoutes;

declare module '../../../kernel/api/routes.ts' {
  interface RouteTable extends Routes {}
}

addPaths({
  setNotice: 'PUT /v1/notice',
  getNotice: 'GET /v1/notice',
  clearNotice: 'DELETE /v1/notice',
} satisfies Readonly<Record<keyof Routes, string>>);
