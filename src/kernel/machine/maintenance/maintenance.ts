// Maintenance as a noun.

import { ok } from '../../base/result.ts';
import type { Actor } from '../../model/actor.ts';
import type { Maintenance } from '../../model/maintenance.ts';
import { nameOf, needRole } from '../authority.ts';
import type { Node } from '../nodes/facts.ts';
import { maintenanceOn, nextMaintenanceOf } from '../nodes/in-maintenance.ts';
import type { Noun } from '../noun.ts';
import type { Answer, Step } from '../step.ts';
import * as apply from './apply.ts';
import { maintenanceEvents } from './apply.ts';
import type { CheckNode, NodeOn } from './commands.ts';
import { decideMaintenances, takeBack } from './course.ts';
import { decideCancelMaintenance, decidePlanMaintenance } from './plan.ts';
import { isDrainOfMaintenance, startOwn } from './program.ts';

export interface MaintenanceData {
  readonly maintenances: readonly Maintenance[];
}

export const maintenance: Noun<'maintenance', MaintenanceData> = {
  commands: {
    check_node: decideCheckNode,
    plan_maintenance: decidePlanMaintenance,
    node_on: decideNodeOn,
    cancel_maintenance: (step, { id }, actor) => decideCancelMaintenance(step, id, actor),
  },
  events: {
    ...maintenanceEvents,
  },
  facts: () => ({ maintenances: new Map() }),
  save: ({ maintenances }) => ({ maintenances: [...maintenances.values()] }),
  load(state, { maintenances }) {
    for (const one of maintenances) state.maintenances.set(one.id, one);
  },
  due: decideMaintenances,
  rebase: apply.rebaseMaintenances,
};

/** Stands where programs of maintenance have its id. */
const CHECK = 'check';

function decideCheckNode(step: Step, command: CheckNode, actor: Actor): Answer {
  const allowed = needRole(actor, 'admin', 'checking nodes');
  if (!allowed.ok) return allowed;
  const { node: name, program, walltimeMs } = command;
  const node = step.state.nodes.get(name);
  if (node === undefined) return step.refuse('node.not_found', { node: name });
  if (!node.connected) {
    return step.refuse('argument.invalid', { what: `node ${name} is not connected` });
  }
  const system = { maintenance: CHECK, account: null };
  const jobId = startOwn(step, node, { name: `${CHECK}@${name}`, program, walltimeMs, system });
  return ok({ kind: 'submitted', jobId, again: false });
}

/**
 * Nodes put back into service before their maintenance is over, or after it has failed there: the
 * counterpart of taking them out. All that are named, or none.
 */
function decideNodeOn(step: Step, { nodes: names }: NodeOn, actor: Actor): Answer {
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
