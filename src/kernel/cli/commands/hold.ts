// `weft hold`: pending jobs stay pending until released.

import { actionVerb, hasTasks } from '../jobs/each.ts';

export const verb = actionVerb(
  'holdJob',
  {
    verb: 'hold',
    done: 'held',
    isFinal: false,
    acts: (job) => hasTasks(job, 'pending') && !job.held,
  },
  (id) => `Job ${id} is held.`,
);
