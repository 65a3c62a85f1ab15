// `weft suspend`: stops the processes of running jobs; the time limit stops too.

import { actionVerb, hasTasks } from '../jobs/each.ts';

export const verb = actionVerb(
  'suspendJob',
  {
    verb: 'suspend',
    done: 'suspended',
    isFinal: false,
    acts: (job) => hasTasks(job, 'starting', 'running', 'suspended'),
  },
  (id, tasks) => `Job ${id}: ${tasks} suspended.`,
);
