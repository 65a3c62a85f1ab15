// What the wing adds to the API.

import type { ApiPart } from '../../../kernel/api/part.ts';
import { sampleRoutes, usedView } from './samples.ts';

export const api: ApiPart = {
  routes: sampleRoutes,
  jobFields: {
    /** Owner only: what its tasks used of what they asked for, as far as nodes looked at them. */
    used: usedView.nullable().exactOptional(),
  },
};
