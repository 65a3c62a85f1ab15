// Method and path of each route of the wing, for clients: no schema library is loaded for them.

import { addPaths } from '../../../kernel/api/paths.ts';
import type { batchRoutes } from './batches.ts';

type Routes = typeof batchRoutes;

declare module '../../../kernel/api/routes.ts' {
  interface RouteTable extends Routes {}
}

addPaths({
  submitBatch: 'POST /v1/batches',
  listBatches: 'GET /v1/batches',
  getBatch: 'GET /v1/batches/:namespace/:name',
  listBatchJobs: 'GET /v1/batches/:namespace/:name/jobs',
  listBuildLogs: 'GET /v1/batches/:namespace/:name/builds',
  cancelBatch: 'POST /v1/batches/:namespace/:name/cancel',
  retryBatch: 'POST /v1/batches/:namespace/:name/retry',
  rebuildBatch: 'POST /v1/batches/:namespace/:name/rebuild',
  removeBatch: 'DELETE /v1/batches/:namespace/:name',
} satisfies Readonly<Record<keyof Routes, string>>);
