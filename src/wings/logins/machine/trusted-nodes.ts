// Nodes that vouch for their users, as a noun. What is trusted is a machine, never a name: whatever
// takes the name over has to be trusted anew.

import { ok } from '../../../kernel/base/result.ts';
import { nameOf, needRole } from '../../../kernel/machine/authority.ts';
import type { Node } from '../../../kernel/machine/nodes/facts.ts';
import { isSameMachine } from '../../../kernel/machine/nodes/machine.ts';
import type { Noun } from '../../../kernel/machine/noun.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { Answer, Step } from '../../../kernel/machine/step.ts';
import type { Actor } from '../../../kernel/model/actor.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';
import type { Trust, TrustCommand } from './trust.ts';

interface TrustData {
  /** Absent: of a release that trusted none. */
  readonly trustedNodes?: readonly (readonly [NodeName, Trust])[];
}

export const trustedNodes: Noun<'trustedNodes', TrustData> = {
  commands: { trust_node: decideTrust, distrust_node: decideDistrust },
  events: {
    node_trusted(state, { node, trust }) {
      state.trustedNodes.set(node, trust);
    },
    node_distrusted(state, { node }) {
      state.trustedNodes.delete(node);
    },
  },
  facts: () => ({ trustedNodes: new Map() }),
  save: ({ trustedNodes: known }) => ({ trustedNodes: [...known] }),
  load(state, { trustedNodes: known = [] }) {
    for (const [node, trust] of known) state.trustedNodes.set(node, trust);
  },
};

/** Why the word of this node says nothing of who its users are; null: it does. */
export function whyNotTrusted(state: State, name: NodeName): string | null {
  const node = state.nodes.get(name);
  if (node === undefined) return 'there is no such node';
  const trust = state.trustedNodes.get(name);
  if (trust === undefined) return 'no admin has trusted it';
  if (trust.secretHash !== node.secretHash) return 'it was let in anew since an admin trusted it';
  if (trust.store !== storeOf(state) || state.behind !== null) {
    return 'the head was put back from a copy since an admin trusted it';
  }
  if (!isSameMachine(trust.machine, node.machine)) {
    return 'it is another machine than the one that an admin trusted';
  }
  return whyUnfit(node);
}

/** Another one once the head's store was put back: what was ended since may be back in it. */
function storeOf({ losses, copied }: State): string {
  return `${losses.at(-1)?.at ?? 0} ${copied?.at ?? 0}`;
}

function whyUnfit({ facts, clones, machine }: Node): string | null {
  if (facts === null) return 'it has never connected';
  if (clones.length > 0) return 'another machine uses its identity';
  if (facts.site !== undefined) return 'it stands for nodes of another cluster';
  // Whoever may submit there would be taken for the agent's user.
  if (!facts.switchesUser) return `all its jobs run as ${facts.user}, whoever submitted them`;
  if (!isSameMachine(machine, machine)) return 'nothing tells its machine from a copy of it';
  return null;
}

function decideTrust(step: Step, { node: name }: TrustCommand, actor: Actor): Answer {
  const allowed = needRole(actor, 'admin', 'trusting a node with logins');
  if (!allowed.ok) return allowed;
  const { state } = step;
  const node = state.nodes.get(name);
  if (node === undefined) return step.refuse('node.not_found', { node: name });
  const why = whyUnfit(node);
  if (why !== null) return step.refuse('node.not_trusted', { node: name, why });
  if (whyNotTrusted(state, name) === null) return ok({ kind: 'changed', count: 0 });
  forgetGone(step, actor);
  const { secretHash, machine } = node;
  const store = storeOf(state);
  const trust = { by: nameOf(actor), at: step.at, machine: machine ?? {}, secretHash, store };
  step.emit({ kind: 'node_trusted', node: name, trust });
  return ok({ kind: 'changed', count: 1 });
}

/** There are never more than nodes. */
function forgetGone(step: Step, actor: Actor): void {
  for (const name of [...step.state.trustedNodes.keys()]) {
    if (step.state.nodes.has(name)) continue;
    step.emit({ kind: 'node_distrusted', node: name, by: nameOf(actor) });
  }
}

function decideDistrust(step: Step, { node }: TrustCommand, actor: Actor): Answer {
  const allowed = needRole(actor, 'admin', 'trusting a node with logins');
  if (!allowed.ok) return allowed;
  if (!step.state.trustedNodes.has(node)) return ok({ kind: 'changed', count: 0 });
  step.emit({ kind: 'node_distrusted', node, by: nameOf(actor) });
  return ok({ kind: 'changed', count: 1 });
}
