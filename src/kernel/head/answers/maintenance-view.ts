// Maintenance as the API shows it, and what it means for a node in one line.

import type { MaintenanceView } from '../../api/maintenance.ts';
import type { NodeView } from '../../api/nodes.ts';
import { maintenanceOn, nextMaintenanceOf } from '../../machine/nodes/in-maintenance.ts';
import type { State } from '../../machine/state.ts';
import type { NodeName } from '../../model/ids.ts';
import { isUnderWay, type Maintenance } from '../../model/maintenance.ts';
import { formatProgram } from '../program-line.ts';

export function viewMaintenance(one: Maintenance): MaintenanceView {
  const { id, phase, from, until, running, warning, program, reason } = one;
  return {
    id,
    phase,
    from,
    until,
    running,
    reason,
    warning: warning === null ? null : { ...warning },
    program: program === null ? null : formatProgram(program.program),
    account: program?.account ?? null,
    restarts: program?.restarts ?? false,
    goal: one.goal ?? null,
    createdBy: one.createdBy,
    createdAt: one.createdAt,
    endedAt: one.endedAt,
    detail: one.detail,
    nodes: one.nodes.map((name) => viewWork(one, name)),
  };
}

function viewWork({ works, stops }: Maintenance, node: NodeName): MaintenanceView['nodes'][number] {
  const work = works[node] ?? { kind: 'waiting' };
  return {
    node,
    state: work.kind,
    jobId: 'jobId' in work ? work.jobId : null,
    why: 'why' in work ? work.why : null,
    stop: stops?.[node] === 'never' ? null : (stops?.[node] ?? null),
  };
}

/** The maintenance that the node is in, else its next; null when none is planned. */
export function maintenanceOfNode(state: State, name: NodeName): NodeView['maintenance'] {
  const one = maintenanceOn(state, name) ?? nextMaintenanceOf(state, name);
  if (one === null) return null;
  const { id, from, until, reason } = one;
  return { id, from, until, reason, begun: isUnderWay(one) };
}
