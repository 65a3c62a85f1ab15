// A repair that nobody asked for takes no partition its last node: what decided on it looked at the
// cluster a moment before, and others may have gone since.

import { isAlive } from '../../model/maintenance.ts';
import { isMember } from '../../model/scheduling.ts';
import { labelsOf, mayGetWork } from '../nodes/view.ts';
import { schedulingOf } from '../partitions/settings.ts';
import type { Step } from '../step.ts';
import type { PlanMaintenance } from './commands.ts';

/** The partition in which no other node works; null: there is none. */
export function lastNodeOf({ state, settings }: Step, { nodes }: PlanMaintenance): string | null {
  const all = [...state.nodes.values()];
  const taken = new Set<string>(nodes);
  for (const maintenance of state.maintenances.values()) {
    if (isAlive(maintenance)) for (const name of maintenance.nodes) taken.add(name);
  }
  for (const partition of Object.values(schedulingOf(state, settings).partitions)) {
    const members = all.filter((node) => {
      return isMember(partition, { name: node.name, labels: labelsOf(node) });
    });
    const isNeeded = members.some((node) => nodes.includes(node.name) && mayGetWork(node));
    const goesOn = members.some((node) => !taken.has(node.name) && mayGetWork(node));
    if (isNeeded && !goesOn) return partition.name;
  }
  return null;
}
