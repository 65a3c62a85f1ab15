// What a node says at its hello of the starts that it holds: a head that was put back from an older
// copy learns what it has lost. To a head that has lost nothing it says nothing new.

import type { HeldEpoch, HeldState } from '../../model/orders.ts';
import type { Part } from '../jobs/facts.ts';
import type { Node } from '../nodes/facts.ts';
import type { Step } from '../step.ts';

/** What follows from how an epoch stands on a node that has just connected. */
export function decideHeldState(step: Step, node: Node, { epochId, stands }: HeldEpoch): void {
  const task = node.holding.get(epochId)?.task;
  const part = task?.parts.get(node.name);
  if (stands === undefined || task == null || part === undefined || part.state === 'ended') return;
  const at = { epochId, node: node.name } as const;
  if (part.state === 'ordered') {
    const startedAt = step.at - Math.max(0, stands.at - stands.startedAt);
    step.emit({ kind: 'part_started', ...at, startedAt, nodeAt: stands.at });
  }
  if (stands.turnHeard > task.suspendTurn) {
    step.emit({ kind: 'part_turns_heard', ...at, turn: stands.turnHeard });
  }
  decideTurned(step, { ...at, part, stands });
  if (stands.storing && part.state !== 'storing') {
    step.emit({ kind: 'part_storing', ...at, since: Math.min(stands.at, step.at) });
  }
}

interface Held extends Pick<HeldEpoch, 'epochId'> {
  readonly node: Node['name'];
  readonly part: Part;
  readonly stands: HeldState;
}

/** Handles a part that was stopped or woken by an order of which the head has no record. */
function decideTurned(step: Step, { epochId, node, part, stands }: Held): void {
  const { turnTold: turn, turnedAt, suspended, storing } = stands;
  if (turn <= part.turnHeard || storing || part.state === 'storing') return;
  if (suspended === (part.state === 'suspended')) return;
  const kind = suspended ? 'part_suspended' : 'part_resumed';
  step.emit({ kind, epochId, node, turn, since: Math.min(turnedAt ?? stands.at, step.at) });
}
