// What the wing adds to a head.

import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import type { batchRoutes } from '../api/batches.ts';
import * as batches from './handlers.ts';
import { shelving } from './shelving.ts';

const handlers: HandlersOf<typeof batchRoutes> = {
  submitBatch: batches.submitBatch,
  listBatches: batches.listBatches,
  getBatch: batches.getBatch,
  listBatchJobs: batches.listBatchJobs,
  listBuildLogs: batches.listBuildLogs,
  cancelBatch: batches.cancelBatch,
  retryBatch: batches.retryBatch,
  rebuildBatch: batches.rebuildBatch,
  removeBatch: batches.removeBatch,
};

export const head: HeadPart = { handlers, shelving };
