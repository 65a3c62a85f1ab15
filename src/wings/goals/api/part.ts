// What the wing adds to the API.

import type { ApiPart } from '../../../kernel/api/part.ts';
import { goalRoutes } from './goals.ts';

export const api: ApiPart = {
  routes: goalRoutes,
};
