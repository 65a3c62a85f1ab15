// What maintenance that is under way means for a node and for what is lost there: restarts of
// such a node are expected, and nobody's fault.

import type { NodeName } from '../../model/ids.ts';
import { isAlive, isUnderWay, type Maintenance, takesNode } from '../../model/maintenance.ts';
import type { Task } from '../jobs/facts.ts';
import type { State } from '../state.ts';

/** The maintenance whose time has begun and that has not given the node back. */
export function maintenanceOn({ maintenances }: State, node: NodeName): Maintenance | null {
  for (const one of maintenances.values()) {
    if (isUnderWay(one) && takesNode(one, node)) return one;
  }
  return null;
}

/** The next maintenance of the node that has not begun. */
export function nextMaintenanceOf({ maintenances }: State, node: NodeName): Maintenance | null {
  let next: Maintenance | null = null;
  for (const one of maintenances.values()) {
    if (!isAlive(one) || isUnderWay(one) || !one.nodes.includes(node)) continue;
    if (next === null || one.from < next.from) next = one;
  }
  return next;
}

/** Some node of the task is in maintenance: what is lost there does not count against the task. */
export function isInMaintenance(state: State, task: Task): boolean {
  return [...task.parts.keys()].some((name) => maintenanceOn(state, name) !== null);
}

/** The task is a maintenance's program, and its node has another boot than when it began. */
export function hasRestartedItsNode(state: State, task: Task): boolean {
  const { system } = task.job.spec;
  if (system === undefined || task.startedAt === null) return false;
  const works = state.maintenances.get(system.maintenance)?.works ?? {};
  return [...task.parts.keys()].some((name) => {
    const work = works[name];
    return work?.kind === 'running' && state.nodes.get(name)?.bootId !== work.bootId;
  });
}
