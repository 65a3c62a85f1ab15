// What the wing adds to the API.

import type { ApiPart } from '../../../kernel/api/part.ts';
import { sampleRoutes } from './samples.ts';

export const api: ApiPart = { routes: sampleRoutes };
