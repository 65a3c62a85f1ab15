// Nodes put back into service before their maintenance is over, or after it has failed there: the
// counterpart of taking them out. All that are named, or none.

import { ok } from '../../base/result.ts';
import type { Actor } from '../../model/actor.ts';
import { nameOf, needRole } from '../authority.ts';
import type { Node } from '../nodes/facts.ts';
import { maintenanceOn, nextMaintenanceOf } from '../nodes/in-maintenance.ts';
import type { Answer, Step } from '../step.ts';
import type { NodeOn } from './commands.ts';
import { takeBack } from './course.ts';
import { isDrainOfMaintenance } from './program.ts';

export function decideNodeOn(step: Step, { nodes: names }: NodeOn, actor: Actor): Answer {
  const allowed = needRole(actor, 'operator', 'putting nodes back into service');
  if (!allowed.ok) return allowed;
  const nodes: Node[] = [];
  for (const name of new Set(names)) {
    const node = step.state.nodes.get(name);
    if (node === undefined) return step.refuse('node.not_found', { node: name });
    if (maintenanceOn(step.state, name) === null && !isDrainOfMaintenance(node)) {
      const next = nextMaintenanceOf(step.state, name);
      const ahead = next === null ? '' : `; ${next.id}, which has not begun, can be cancelled`;
      return step.refuse('maintenance.not_on', { node: name, ahead });
    }
    nodes.push(node);
  }
  const by = nameOf(actor);
  for (const node of nodes) {
    const one = maintenanceOn(step.state, node.name);
    if (one !== null && one.takenBack?.[node.name] === undefined) {
      takeBack(step, one.id, node.name, by);
    }
    if (isDrainOfMaintenance(node)) step.emit({ kind: 'node_undrained', node: node.name, by });
  }
  return ok({ kind: 'changed', count: nodes.length });
}
