// What the wing adds to the API.

import type { ApiPart } from '../../../kernel/api/part.ts';
import { stepRoutes } from './steps.ts';

export const api: ApiPart = {
  routes: stepRoutes,
  tags: { steps: { description: 'Programs inside of running tasks.', words: ['steps'] } },
};
