// What the wing adds to a head.

import { batchNameProblem, jobNameProblem, nameProblem } from '../../../kernel/files/names.ts';
import type { Shelving } from '../../../kernel/head/archive/shelving.ts';
import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import type { EventsPart } from '../../../kernel/head/http/public-events.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import { formatBatch } from '../../../kernel/model/batch.ts';
import { nameInBatch } from '../../../kernel/model/items.ts';
import type { batchRoutes } from '../api/batches.ts';
import { batchEvents } from '../api/events.ts';
import type { BatchEvent } from '../machine/events.ts';
import * as batches from './handlers.ts';

/** Which batch a job is of, for the archive. */
const shelving: Shelving = {
  /** None where its name could lead elsewhere. */
  batchShelf({ spec, batch }, index) {
    if (batch === undefined) return null;
    const { namespace, name, version, origin, createdAt } = batch;
    const job = nameInBatch(spec, index) ?? '';
    const isRight =
      nameProblem(namespace) === null &&
      batchNameProblem(name) === null &&
      jobNameProblem(job) === null;
    return isRight ? { namespace, name, version, job, origin, begunAt: createdAt } : null;
  },
  jobNames(state, batch) {
    const found = state.batches.get(formatBatch(batch));
    return found?.createdAt === batch.begunAt ? found.jobs.map(({ name }) => name) : [];
  },
};

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
