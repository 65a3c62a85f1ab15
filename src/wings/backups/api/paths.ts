// Method and path of each route of the wing, for clients: no schema library is loaded for them.

import { addPaths } from '../../../kernel/api/paths.ts';
import type { backupRoutes } from './backups.ts';

type Routes = typeof backupRoutes;

declare module '../../../kernel/api/routes.ts' {
  interface RouteTable extends Routes {}
}

addPaths({
  makeBackup: 'POST /v1/backups',
  showBackups: 'GET /v1/backup',
  listBackups: 'GET /v1/backups',
} satisfies Readonly<Record<keyof Routes, string>>);
