// `weft hold`: pending jobs stay pending until released.

import { actionVerb } from '../jobs/each.ts';

export const verb = actionVerb('holdJob', (id) => `Job ${id} is held.`);
