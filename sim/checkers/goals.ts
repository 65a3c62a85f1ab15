// X7: repairs of goals take at most so many nodes of a partition at once, and never the last one
// that works there; each is over in the end.

import type { Event } from '../../src/kernel/machine/declared.ts';
import type { Node } from '../../src/kernel/machine/nodes/facts.ts';
import { labelsOf } from '../../src/kernel/machine/nodes/view.ts';
import { schedulingOf } from '../../src/kernel/machine/partitions/settings.ts';
import type { State } from '../../src/kernel/machine/state.ts';
import type { Step } from '../../src/kernel/machine/step.ts';
import { isAlive, type Maintenance } from '../../src/kernel/model/maintenance.ts';
import { isMember } from '../../src/kernel/model/scheduling.ts';
import { AT_ONCE } from '../goals/drift.ts';
import { Violation } from '../violation.ts';

/** Called before the event is applied. */
export function checkRepairs(step: Step, event: Event): void {
  if (event.kind !== 'maintenance_planned' || event.maintenance.goal === undefined) return;
  const { state, settings } = step;
  for (const name of event.maintenance.nodes) {
    const node = state.nodes.get(name);
    if (node === undefined) continue;
    for (const partition of Object.values(schedulingOf(state, settings).partitions)) {
      const members = [...state.nodes.values()].filter((one) => {
        return isMember(partition, { name: one.name, labels: labelsOf(one) });
      });
      if (members.includes(node)) checkPartition(state, node, members, partition.name);
    }
  }
}

function checkPartition(
  state: State,
  node: Node,
  members: readonly Node[],
  partition: string,
): void {
  const alive = [...state.maintenances.values()].filter(isAlive);
  const has = (one: Node, all: readonly Maintenance[]): boolean =>
    all.some(({ nodes }) => nodes.includes(one.name));
  const repairs = alive.filter(({ goal }) => goal !== undefined);
  const inRepair = members.filter((one) => has(one, repairs)).length + 1;
  const words = `repair of ${node.name} is planned`;
  if (inRepair > AT_ONCE) throw new Violation('X7', `${words}: ${inRepair} of ${partition}`);
  const others = members.filter((one) => one !== node && works(one) && !has(one, alive));
  if (works(node) && others.length === 0) {
    throw new Violation('X7', `${words}, the last node of ${partition} that works`);
  }
}

function works({ clones, connected, drain, fault, pausing }: Node): boolean {
  if (clones.length > 0) return false;
  return connected && drain === null && fault === null && pausing.now === null;
}

/** L3 in words: repairs that are not over. */
export function openRepairs({ maintenances }: State): string[] {
  return [...maintenances.values()]
    .filter((one) => one.goal !== undefined && isAlive(one))
    .map(({ id, phase }) => `repair ${id} is ${phase}`);
}
