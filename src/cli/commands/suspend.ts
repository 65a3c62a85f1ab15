// `weft suspend`: stops the processes of running jobs; the time limit stops too.

import { actionVerb } from '../jobs/each.ts';

export const verb = actionVerb(
  'suspendJob',
  { verb: 'suspend', isFinal: false },
  (id, tasks) => `Job ${id}: ${tasks} told to stop.`,
);
