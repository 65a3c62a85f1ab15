// What the wing adds to the API.

import type { ApiPart } from '../../../kernel/api/part.ts';
import { labRoutes } from './room.ts';

export const api: ApiPart = { routes: labRoutes };
