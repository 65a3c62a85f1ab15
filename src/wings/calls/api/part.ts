// What the wing adds to the API.

import type { ApiPart } from '../../../kernel/api/part.ts';
import { poolRoutes } from './pools.ts';

export const api: ApiPart = {
  routes: poolRoutes,
  tags: {
    pools: { description: 'Workers that stay, and run functions for programs.', words: ['pools'] },
  },
};
