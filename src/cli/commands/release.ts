// `weft release`: held jobs may start.

import { actionVerb } from '../jobs/each.ts';

export const verb = actionVerb('releaseJob', (id) => `Job ${id} may start.`);
