// What the wing adds to a head.

import { err, ok } from '../../../kernel/base/result.ts';
import type { Handler, HandlersOf } from '../../../kernel/head/http/call.ts';
import type { HttpPorts } from '../../../kernel/head/http/services.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';
import type { goalRoutes } from '../api/goals.ts';
import type { GoalKeeper } from './keeper.ts';

/** Goal state over HTTP. */
const getGoals: Handler<'getGoals'> = ({ goals }) => {
  const { everyMs, repairs } = goals.options;
  const nodes = goals.standings().map(({ differences, ...rest }) => {
    return { ...rest, differences: differences?.map((one) => ({ ...one })) ?? null };
  });
  const { source } = goals;
  return ok({ everyMs, repairs, source: source === null ? null : { ...source }, nodes });
};

const lookAtNodes: Handler<'lookAtNodes'> = ({ engine, goals }, { body }) => {
  const { nodes = [], repair = false } = body;
  const unknown = nodes.find((name) => !engine.state.nodes.has(name as NodeName));
  if (unknown !== undefined) return err(refuse('node.not_found', { node: unknown }));
  return ok({ count: goals.ask(nodes, repair) });
};

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
