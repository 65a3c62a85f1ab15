// What the wing adds to a head.

import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import type { pilotRoutes } from '../api/pilots.ts';
import { listFleets, scaleFleet, startFleet, stopFleet } from './handlers.ts';

const handlers: HandlersOf<typeof pilotRoutes> = { startFleet, listFleets, scaleFleet, stopFleet };

export const head: HeadPart = { handlers };
