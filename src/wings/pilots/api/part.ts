// What the wing adds to the API.

import type { ApiPart } from '../../../kernel/api/part.ts';
import { pilotEvents } from './events.ts';
import { pilotRoutes } from './pilots.ts';

export const api: ApiPart = {
  routes: pilotRoutes,
  events: pilotEvents,
  tags: {
    pilots: { description: 'Nodes that a batch system hosts for a time.', words: ['pilots'] },
  },
};
