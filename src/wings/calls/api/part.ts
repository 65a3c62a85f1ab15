// What the wing adds to the API.

import type { ApiPart } from '../../../kernel/api/part.ts';
import { poolEvents } from './events.ts';
import { poolRoutes } from './pools.ts';

export const api: ApiPart = {
  routes: poolRoutes,
  events: poolEvents,
  tags: {
    pools: { description: 'Workers that stay, and run functions for programs.', words: ['pools'] },
  },
};
