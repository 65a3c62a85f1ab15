// Nodes: shown to all users, changed by operators, admitted by admins or by a join token.

import type { AdmittedReply, NodeView } from '../../../api/nodes.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { EnrollNode } from '../../../machine/nodes/commands.ts';
import type { Actor } from '../../../model/actor.ts';
import { type Refusal, refuse } from '../../../model/errors.ts';
import type { NodeName } from '../../../model/ids.ts';
import { type Live, viewNode } from '../../answers/node-view.ts';
import { hashSecret, makeSecret } from '../../auth/secrets.ts';
import type { Handler } from '../call.ts';
import type { Services } from '../services.ts';
import { changed } from './job-actions.ts';

export const listNodes: Handler<'listNodes'> = ({ engine, agents }) => {
  const nodes = [...engine.state.nodes.values()];
  return ok({
    nodes: nodes.map((node) => viewNode(engine.state, node, liveOf(engine, agents, node.name))),
  });
};

export const getNode: Handler<'getNode'> = ({ engine, agents }, { params }) => {
  const node = engine.state.nodes.get(params.name as NodeName);
  if (node === undefined) return err(refuse('node.not_found', { node: params.name }));
  return ok(viewNode(engine.state, node, liveOf(engine, agents, node.name)) satisfies NodeView);
};

function liveOf(engine: Services['engine'], agents: Services['agents'], name: NodeName): Live {
  return {
    load: agents.load(name),
    clockOffsetMs: agents.clockOffsetMs(name),
    presence: agents.presence(name),
    heardAt: Math.round(engine.now() - agents.silentMs(name)),
  };
}

export const drainNode: Handler<'drainNode'> = async ({ engine }, { params, body, actor }) => {
  const node = params.name as NodeName;
  return changed(await engine.execute({ kind: 'drain_node', node, reason: body.reason }, actor));
};

export const undrainNode: Handler<'undrainNode'> = async ({ engine }, { params, actor }) => {
  const node = params.name as NodeName;
  return changed(await engine.execute({ kind: 'undrain_node', node }, actor));
};

export const labelNode: Handler<'labelNode'> = async ({ engine }, { params, body, actor }) => {
  const { add = [], remove = [] } = body;
  const node = params.name as NodeName;
  return changed(await engine.execute({ kind: 'label_node', node, add, remove }, actor));
};

export const modifyNode: Handler<'modifyNode'> = async ({ engine }, { params, body, actor }) => {
  const node = params.name as NodeName;
  return changed(await engine.execute({ kind: 'modify_node', node, resources: body }, actor));
};

export const declareNodeLost: Handler<'declareNodeLost'> = async ({ engine }, call) => {
  const node = call.params.name as NodeName;
  return changed(await engine.execute({ kind: 'declare_node_lost', node }, call.actor));
};

export const removeNode: Handler<'removeNode'> = async ({ engine }, { params, actor }) => {
  const node = params.name as NodeName;
  return changed(await engine.execute({ kind: 'remove_node', node }, actor));
};

export const createNode: Handler<'createNode'> = (services, { body, actor }) =>
  enroll(services, actor, {
    node: body.name as NodeName,
    resources: body.resources ?? null,
    labels: body.labels ?? [],
    replace: body.replace ?? false,
  });

/** The token is the permission: it was made by an admin and has been checked. */
export const join: Handler<'join'> = (services, { body, principal }) =>
  enroll(
    services,
    { kind: 'system' },
    {
      node: body.name as NodeName,
      resources: null,
      labels: body.labels ?? [],
      replace: false,
      ...(body.copyOf === undefined
        ? {}
        : { copyOf: { ...body.copyOf, node: body.copyOf.node as NodeName } }),
      ...(principal.kind === 'join' ? { tokenId: principal.tokenId } : {}),
    },
  );

async function enroll(
  { engine, chance, facts }: Services,
  actor: Actor,
  wish: Omit<EnrollNode, 'kind' | 'secretHash'>,
): Promise<Result<AdmittedReply, Refusal>> {
  const secret = makeSecret(chance);
  const secretHash = hashSecret(secret);
  const reply = await engine.execute({ kind: 'enroll_node', ...wish, secretHash }, actor);
  if (!reply.ok) return reply;
  return ok({ name: wish.node, secret, clusterName: facts.clusterName });
}
