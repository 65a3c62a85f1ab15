// `weft hold`: pending jobs stay pending until released.

import { actionVerb } from '../jobs/each.ts';

export const verb = actionVerb(
  'holdJob',
  { verb: 'hold', isFinal: false },
  (id) => `Job ${id} is held.`,
);
