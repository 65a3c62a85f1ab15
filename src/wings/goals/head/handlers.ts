// Goal state over HTTP.

import { err, ok } from '../../../kernel/base/result.ts';
import type { Handler } from '../../../kernel/head/http/call.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';

export const getGoals: Handler<'getGoals'> = ({ goals }) => {
  const { everyMs, repairs } = goals.options;
  const nodes = goals.standings().map(({ differences, ...rest }) => {
    return { ...rest, differences: differences?.map((one) => ({ ...one })) ?? null };
  });
  const { source } = goals;
  return ok({ everyMs, repairs, source: source === null ? null : { ...source }, nodes });
};

export const lookAtNodes: Handler<'lookAtNodes'> = ({ engine, goals }, { body }) => {
  const { nodes = [], repair = false } = body;
  const unknown = nodes.find((name) => !engine.state.nodes.has(name as NodeName));
  if (unknown !== undefined) return err(refuse('node.not_found', { node: unknown }));
  return ok({ count: goals.ask(nodes, repair) });
};
