// What the wing adds to a head.

import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import type { EventsPart } from '../../../kernel/head/http/public-events.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import { pilotEvents } from '../api/events.ts';
import type { pilotRoutes } from '../api/pilots.ts';
import type { PilotEvent } from '../machine/events.ts';
import { listFleets, scaleFleet, startFleet, stopFleet } from './handlers.ts';

const events: EventsPart<PilotEvent> = { kinds: pilotEvents };

const handlers: HandlersOf<typeof pilotRoutes> = { startFleet, listFleets, scaleFleet, stopFleet };

export const head: HeadPart = { handlers, events };
