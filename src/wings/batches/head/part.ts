// What the wing adds to a head.

import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import type { EventsPart } from '../../../kernel/head/http/public-events.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import type { batchRoutes } from '../api/batches.ts';
import { batchEvents } from '../api/events.ts';
import type { BatchEvent } from '../machine/events.ts';
import * as batches from './handlers.ts';
import { shelving } from './shelving.ts';

const events: EventsPart<BatchEvent> = { kinds: batchEvents };

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

export const head: HeadPart = { handlers, events, shelving };
