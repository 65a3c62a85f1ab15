// What the wing adds to the API.

import type { ApiPart } from '../../../kernel/api/part.ts';
import { pauseRoutes } from './pauses.ts';

export const api: ApiPart = {
  routes: pauseRoutes,
};
