// Samples: the curves of a node, and what users' tasks used.

import { err, ok } from '../../../kernel/base/result.ts';
import type { Handler } from '../../../kernel/head/http/call.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';

export const nodeSamples: Handler<'nodeSamples'> = ({ engine, samples }, { params, query }) => {
  const name = params.name as NodeName;
  if (!engine.state.nodes.has(name)) return err(refuse('node.not_found', { node: name }));
  return ok(samples.nodeCurves(name, query.from));
};

/** Everybody sees their own, operators those of all. */
export const usedByOwners: Handler<'usedByOwners'> = ({ samples }, { query, actor }) => {
  const all = samples.byOwner(query.since);
  const isOperator = actor.role !== 'user';
  return ok({ owners: all.filter(({ owner }) => isOperator || owner === actor.name) });
};
