// `weft requeue`: ends what runs and puts it back to the queue, under the same id.

import { actionVerb } from '../jobs/each.ts';

export const verb = actionVerb(
  'requeueJob',
  { verb: 'requeue', isFinal: true },
  (id, tasks) => `Job ${id}: ${tasks} back to the queue.`,
);
