// What the wing adds to the API.

import type { ApiPart } from '../../../kernel/api/part.ts';
import { manualRoutes } from './manual.ts';

export const api: ApiPart = { routes: manualRoutes };
