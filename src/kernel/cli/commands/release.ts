// `weft release`: held jobs may start.

import { actionVerb } from '../jobs/each.ts';

export const verb = actionVerb(
  'releaseJob',
  {
    verb: 'release',
    done: 'released',
    isFinal: false,
    acts: (job) => job.held || job.reason?.kind === 'held',
  },
  (id) => `Job ${id} may start.`,
);
