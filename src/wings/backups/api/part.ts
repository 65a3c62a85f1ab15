// What the wing adds to the API.

import type { ApiPart } from '../../../kernel/api/part.ts';
import { backupRoutes } from './backups.ts';

export const api: ApiPart = { routes: backupRoutes };
