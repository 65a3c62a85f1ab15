// `weft resume`: suspended jobs go on.

import { actionVerb, hasTasks } from '../jobs/each.ts';

export const verb = actionVerb(
  'resumeJob',
  { verb: 'resume', done: 'resumed', isFinal: false, acts: (job) => hasTasks(job, 'suspended') },
  (id, tasks) => `Job ${id}: ${tasks} resumed.`,
);
