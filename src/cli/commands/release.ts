// `weft release`: held jobs may start.

import { actionVerb } from '../jobs/each.ts';

export const verb = actionVerb(
  'releaseJob',
  { verb: 'release', isFinal: false },
  (id) => `Job ${id} may start.`,
);
