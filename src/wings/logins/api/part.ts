// What the wing adds to the API.

import type { ApiPart } from '../../../kernel/api/part.ts';
import { trustEvents } from './events.ts';
import { loginRoutes } from './logins.ts';

export const api: ApiPart = { routes: loginRoutes, events: trustEvents };
