// What operators ask of a node's agent by way of the head: it is told until it has answered.

import { err, ok, type Result } from '../../base/result.ts';
import type { Actor } from '../../model/actor.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import type { NodeName } from '../../model/ids.ts';
import { refusePause, refuseUnpause } from '../../model/pause.ts';
import { nameOf, needRole } from '../authority.ts';
import type { Node } from '../nodes/facts.ts';
import type { Answer, Step } from '../step.ts';
import type { PauseNode, UnpauseNode } from './commands.ts';

export function decidePauseNode(step: Step, command: PauseNode, actor: Actor): Answer {
  const found = reachedNode(step, command.node, actor);
  if (!found.ok) return found;
  const { name, pausing } = found.value;
  if (found.value.facts?.site !== undefined) return err(refuse('node.at_site', { node: name }));
  const { durationMs, requeue } = command;
  const refusal = refusePause(name, durationMs, pausing.maxMs);
  if (refusal !== null) return err(refusal);
  const order = {
    kind: 'pause',
    ...wishOf(step, found.value, actor),
    durationMs,
    requeue,
  } as const;
  step.emit({ kind: 'node_pause_asked', node: name, order, until: step.at + durationMs });
  return ok({ kind: 'done' });
}

export function decideUnpauseNode(step: Step, command: UnpauseNode, actor: Actor): Answer {
  const found = reachedNode(step, command.node, actor);
  if (!found.ok) return found;
  const { name, pausing } = found.value;
  if (pausing.now?.kind !== 'owner') return err(refuseUnpause(name, pausing.now));
  const order = { kind: 'unpause', ...wishOf(step, found.value, actor) } as const;
  step.emit({ kind: 'node_pause_asked', node: name, order, until: pausing.now.until });
  return ok({ kind: 'done' });
}

/** A wish that its node has not heard of in its time has no use any more. */
export function forgetPauseRequests(step: Step): void {
  for (const node of step.state.nodes.values()) forgetPauseRequest(step, node);
}

/** At a hello, too: after time without a head its orders precede the next look at all nodes. */
export function forgetPauseRequest(step: Step, { name, pausing }: Node): void {
  if (pausing.wish === null || step.at < pausing.wish.until) return;
  step.emit({ kind: 'node_pause_forgotten', node: name });
}

/** Only what is there now can be told: nobody wants a pause that begins at some other time. */
function reachedNode(step: Step, name: NodeName, actor: Actor): Result<Node, Refusal> {
  const allowed = needRole(actor, 'operator', 'pausing nodes');
  if (!allowed.ok) return allowed;
  const node = step.state.nodes.get(name);
  if (node === undefined) return err(refuse('node.not_found', { node: name }));
  if (!node.connected) return err(refuse('node.not_connected', { node: name }));
  return ok(node);
}

/** The clock, so that serials grow even where the record of the last one is lost. */
function wishOf(step: Step, { pausing }: Node, actor: Actor): { serial: number; by: string } {
  return { serial: Math.max(step.at, pausing.serial + 1), by: nameOf(actor) };
}
