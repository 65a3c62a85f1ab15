// What the wing adds to the API.

import type { ApiPart } from '../../../kernel/api/part.ts';
import { batchRoutes, batchView, submitBatchReply } from './batches.ts';
import { batchEvents } from './events.ts';

export const api: ApiPart = {
  routes: batchRoutes,
  events: batchEvents,
  names: { Batch: batchView, BatchSubmitted: submitBatchReply },
  tags: { batches: { description: 'Jobs submitted together under one name.', words: ['batches'] } },
};
