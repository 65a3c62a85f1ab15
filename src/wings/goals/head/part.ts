// What the wing adds to a head.

import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import type { HttpPorts } from '../../../kernel/head/http/services.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import type { goalRoutes } from '../api/goals.ts';
import { getGoals, lookAtNodes } from './handlers.ts';
import type { GoalKeeper } from './keeper.ts';

declare module '../../../kernel/head/http/services.ts' {
  interface Services {
    readonly goals: GoalKeeper;
  }
}

const handlers: HandlersOf<typeof goalRoutes> = { getGoals, lookAtNodes };

/** @param keeperOf begins to keep goals */
export function goalsHead(keeperOf: (ports: HttpPorts) => GoalKeeper): HeadPart {
  return { handlers, openListeners: (ports) => ({ services: { goals: keeperOf(ports) } }) };
}
