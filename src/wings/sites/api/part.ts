// What the wing adds to the API.

import type { ApiPart } from '../../../kernel/api/part.ts';
import { siteRoutes } from './sites.ts';

export const api: ApiPart = {
  routes: siteRoutes,
  tags: { sites: { description: 'Other clusters behind gateways.', words: ['sites'] } },
};
