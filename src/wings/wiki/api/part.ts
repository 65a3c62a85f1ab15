// What the wing adds to the API.

import type { ApiPart } from '../../../kernel/api/part.ts';
import { startRoutes } from './start-job.ts';

export const api: ApiPart = {
  routes: startRoutes,
};
