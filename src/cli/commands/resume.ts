// `weft resume`: suspended jobs go on.

import { actionVerb } from '../jobs/each.ts';

export const verb = actionVerb(
  'resumeJob',
  { verb: 'resume', isFinal: false },
  (id, tasks) => `Job ${id}: ${tasks} told to go on.`,
);
