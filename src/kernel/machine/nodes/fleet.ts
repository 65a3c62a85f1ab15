// What operators ask of nodes.

import { err, ok, type Result } from '../../base/result.ts';
import type { Actor } from '../../model/actor.ts';
import type { Refusal } from '../../model/errors.ts';
import { type NodeName, parseNodeName } from '../../model/ids.ts';
import { isPlausible, type Resources } from '../../model/resources.ts';
import { nameOf, needRole } from '../authority.ts';
import { firstOf } from '../machine.ts';
import type { Answer, Step } from '../step.ts';
import { settledBy } from './clones.ts';
import type {
  DeclareNodeLost,
  DrainNode,
  EnrollNode,
  LabelNode,
  ModifyNode,
  RemoveNode,
  UndrainNode,
} from './commands.ts';
import type { Holding, Node } from './facts.ts';
import { loseNode } from './sessions.ts';

/** Letters, digits and a few signs: labels stand in lists, files and on command lines. */
const LABEL = /^[A-Za-z0-9][A-Za-z0-9._=/-]{0,62}$/;

export function decideDrain(step: Step, command: DrainNode, actor: Actor): Answer {
  const node = operated(step, command.node, actor, 'draining nodes');
  if (!node.ok) return node;
  const { drain, name } = node.value;
  if (drain !== null) return step.refuse('node.drained', { node: name, reason: drain.reason });
  const reason = command.reason.trim();
  if (reason === '') {
    return step.refuse('argument.invalid', { what: 'give a reason for draining the node' });
  }
  step.emit({ kind: 'node_drained', node: name, reason, by: nameOf(actor) });
  return ok({ kind: 'done' });
}

export function decideUndrain(step: Step, command: UndrainNode, actor: Actor): Answer {
  const node = operated(step, command.node, actor, 'undraining nodes');
  if (!node.ok) return node;
  const { drain, name, clones } = node.value;
  if (drain === null && clones.length === 0) {
    return step.refuse('node.not_drained', { node: name });
  }
  const by = nameOf(actor);
  if (drain !== null) step.emit({ kind: 'node_undrained', node: name, by });
  // The word that the other machines are gone: one that is not says hello again, and is refused.
  const settled = { kind: 'node_clones_settled', node: name, clones: [], isOther: false } as const;
  if (clones.length > 0) step.emit({ ...settled, by });
  return ok({ kind: 'done' });
}

export function decideLabel(step: Step, command: LabelNode, actor: Actor): Answer {
  const node = operated(step, command.node, actor, 'labelling nodes');
  if (!node.ok) return node;
  const bad = badLabel(step, command.add);
  if (bad !== null) return bad;
  const { add, remove } = command;
  step.emit({ kind: 'node_labelled', node: node.value.name, add, remove });
  return ok({ kind: 'done' });
}

/** The operator's word counts as evidence: everything it held is over. */
export function decideDeclareLost(step: Step, command: DeclareNodeLost, actor: Actor): Answer {
  const found = operated(step, command.node, actor, 'declaring nodes lost');
  if (!found.ok) return found;
  const node = found.value;
  if (node.connected) return step.refuse('node.reachable', { node: node.name });
  const by = nameOf(actor);
  const count = loseNode(step, node, { by, why: `${node.name} was declared lost by ${by}` });
  return ok({ kind: 'changed', count });
}

export function decideRemove(step: Step, command: RemoveNode, actor: Actor): Answer {
  const found = operated(step, command.node, actor, 'removing nodes');
  if (!found.ok) return found;
  const node = found.value;
  const holdings = [...node.holding.values()];
  // What goes on elsewhere, or is over, keeps the place of a silent node only in case it comes
  // back.
  const isBusy = ({ task }: Holding): boolean => task !== null || node.unreachableSince === null;
  const busy = holdings.filter(isBusy);
  if (busy.length > 0) {
    const tasks = busy.slice(0, 5).map(({ epochId }) => epochId);
    const gone = `\`weft node lost ${node.name}\` if it is gone for good`;
    const hint = `Drain it and wait, or declare it lost: ${gone}.`;
    return step.refuse('node.busy', { node: node.name, tasks: tasks.join(', ') }, hint);
  }
  for (const { epochId } of holdings) {
    step.emit({ kind: 'claim_dropped', epochId, node: node.name });
  }
  step.emit({ kind: 'node_removed', node: node.name, by: nameOf(actor) });
  return ok({ kind: 'done' });
}

export function decideEnroll(step: Step, command: EnrollNode, actor: Actor): Answer {
  const allowed = needRole(actor, 'admin', 'enrolling nodes');
  if (!allowed.ok) return allowed;
  const name = parseNodeName(command.node);
  if (!name.ok) return step.refuse('argument.invalid', { what: name.error });
  if (step.state.nodes.has(name.value) && !command.replace) {
    return step.refuse('node.name_taken', { node: name.value });
  }
  const bad = badLabel(step, command.labels) ?? badResources(step, command.resources);
  if (bad !== null) return bad;
  const newcomer = { node: name.value, tokenId: command.tokenId };
  const { refuseNode, afterEnrolment } = step.state.machine.hooks;
  const stranger = firstOf(refuseNode.map((hook) => hook(step.state, newcomer)));
  if (stranger !== null) return err(stranger);
  const { secretHash, resources, labels, copyOf } = command;
  const settled = copyOf === undefined ? null : settledBy(step.state, copyOf);
  step.emit({ kind: 'node_enrolled', node: name.value, secretHash, resources, labels });
  if (settled !== null) step.emit(settled);
  for (const hook of afterEnrolment) hook(step, name.value);
  return ok({ kind: 'done' });
}

/** What runs there keeps what it has: a node made too small gets nothing new until it fits. */
export function decideModify(step: Step, command: ModifyNode, actor: Actor): Answer {
  const allowed = needRole(actor, 'admin', 'declaring what nodes have');
  if (!allowed.ok) return allowed;
  const node = step.state.nodes.get(command.node);
  if (node === undefined) return step.refuse('node.not_found', { node: command.node });
  const resources = { ...node.total, ...command.resources };
  const bad = badResources(step, resources);
  if (bad !== null) return bad;
  step.emit({ kind: 'node_resized', node: node.name, resources, by: nameOf(actor) });
  return ok({ kind: 'done' });
}

function operated(step: Step, name: NodeName, actor: Actor, action: string): Result<Node, Refusal> {
  const allowed = needRole(actor, 'operator', action);
  if (!allowed.ok) return allowed;
  const node = step.state.nodes.get(name);
  return node === undefined ? step.refuse('node.not_found', { node: name }) : ok(node);
}

function badLabel(step: Step, labels: readonly string[]): Answer | null {
  const bad = labels.find((label) => !LABEL.test(label));
  if (bad === undefined) return null;
  const what = `'${bad}' is not a label; use letters, digits and . _ = / -, 63 at most`;
  return step.refuse('argument.invalid', { what });
}

function badResources(step: Step, resources: Resources | null): Answer | null {
  if (resources === null || isPlausible(resources)) return null;
  const what = 'resources must be whole numbers from 0, and no larger than a machine can have';
  return step.refuse('argument.invalid', { what });
}
