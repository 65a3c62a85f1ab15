// What the wing adds to the API.

import type { ApiPart } from '../../../kernel/api/part.ts';
import { pilotRoutes } from './pilots.ts';

export const api: ApiPart = {
  routes: pilotRoutes,
  tags: {
    pilots: { description: 'Nodes that a batch system hosts for a time.', words: ['pilots'] },
  },
};
