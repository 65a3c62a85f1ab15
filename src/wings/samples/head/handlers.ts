// Samples: the curves of a node, and what users' tasks used.

import { err, ok } from '../../../kernel/base/result.ts';
import type { Handler } from '../../../kernel/head/http/call.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;

export const nodeSamples: Handler<'nodeSamples'> = (services, { params, query }) => {
  const { engine, samples, clock } = services;
  const name = params.name as NodeName;
  if (!engine.state.nodes.has(name)) return err(refuse('node.not_found', { node: name }));
  return ok(samples.nodeCurves(name, query.from ?? clock.now() - HOUR_MS));
};

/** Everybody sees their own, operators those of all. */
export const usedByOwners: Handler<'usedByOwners'> = ({ samples, clock }, { query, actor }) => {
  const owner = actor.role === 'user' ? actor.name : null;
  return ok({ owners: [...samples.byOwner(query.since ?? clock.now() - WEEK_MS, owner)] });
};
