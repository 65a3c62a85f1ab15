// `weft requeue`: ends what runs and puts it back to the queue, under the same id.

import { actionVerb, hasTasks } from '../jobs/each.ts';

export const verb = actionVerb(
  'requeueJob',
  {
    verb: 'requeue',
    done: 'requeued',
    isFinal: true,
    acts: (job) => hasTasks(job, 'starting', 'running', 'suspended'),
  },
  (id, tasks) => `Job ${id}: ${tasks} requeued.`,
);
