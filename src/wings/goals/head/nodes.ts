// Nodes as the plan of repairs sees them: made of what is recorded, so that a head that starts
// again counts on.

import type { Node } from '../../../kernel/machine/nodes/facts.ts';
import { memberOf } from '../../../kernel/machine/nodes/members.ts';
import { labelsOf } from '../../../kernel/machine/nodes/view.ts';
import { schedulingOf } from '../../../kernel/machine/partitions/settings.ts';
import type { State } from '../../../kernel/machine/state.ts';
import { meetsLabel } from '../../../kernel/model/labels.ts';
import { isAlive, type Maintenance } from '../../../kernel/model/maintenance.ts';
import { isMember } from '../../../kernel/model/scheduling.ts';
import type { Settings } from '../../../kernel/model/settings.ts';
import type { Difference, GoalClass } from '../core/goal.ts';
import type { GoalNode, LastRepair } from '../core/plan.ts';

/** How reasons of nodes begin that were given up. */
export const GIVEN_UP = 'goals of ';

export interface Seen {
  readonly state: State;
  readonly settings: Settings;
}

/** The first class that the node is of. */
export function classOf(classes: readonly GoalClass[], node: Node): GoalClass | null {
  const found = classes.find(({ nodes, labels }) => {
    if (nodes !== null && !nodes.includes(node.name)) return false;
    return labels.every((label) => meetsLabel(labelsOf(node), label));
  });
  return found ?? null;
}

export function goalNode(
  { state, settings }: Seen,
  node: Node,
  known: {
    readonly class: GoalClass;
    readonly differences: readonly Difference[] | null;
    /** Since when it is known to meet its goals: repairs before that do not count. */
    readonly metAt: number;
  },
): GoalNode {
  const { name, connected, drain, fault, pausing } = node;
  const alive = [...state.maintenances.values()].filter(
    (one) => isAlive(one) && one.nodes.includes(name),
  );
  const outline = { name, labels: labelsOf(node) };
  const partitions = Object.values(schedulingOf(state, settings).partitions);
  return {
    name,
    class: known.class,
    differences: known.differences,
    connected,
    inService: connected && drain === null && fault === null && pausing.now === null,
    maintenance: alive.some(({ goal }) => goal !== undefined)
      ? 'goal'
      : alive.length > 0
        ? 'other'
        : null,
    last: lastRepair(state, node, known.metAt),
    drainedBy: drain === null ? null : isByRepair(state, drain) ? 'repair' : 'other',
    partitions: partitions.filter((one) => isMember(one, outline)).map((one) => one.name),
  };
}

/** Repairs of the node that are over, the newest last. */
export function pastRepairs({ maintenances }: State, { name }: Node): Maintenance[] {
  return [...maintenances.values()].filter((one) => {
    return one.goal !== undefined && !isAlive(one) && one.nodes.includes(name);
  });
}

/** When the last repair was over: what was seen before that says nothing. 0: there was none. */
export function repairedAt(state: State, node: Node): number {
  return pastRepairs(state, node).at(-1)?.endedAt ?? 0;
}

/** When the last maintenance of a site's node was over. Long ago: there was none, or it is ours. */
export function takenUntil(state: State, node: Node): number {
  if (memberOf(state, node) === null) return Number.NEGATIVE_INFINITY;
  const ends = [...state.maintenances.values()].flatMap(({ nodes, endedAt }) => {
    return endedAt !== null && nodes.includes(node.name) ? [endedAt] : [];
  });
  return Math.max(...ends);
}

/** One that never began, or was called off, was no attempt. */
function lastRepair(state: State, node: Node, metAt: number): LastRepair | null {
  const tried = pastRepairs(state, node).filter(({ works, endedAt }) => {
    return works[node.name]?.kind !== 'skipped' && (endedAt ?? 0) > metAt;
  });
  const last = tried.at(-1);
  return last?.goal === undefined ? null : { id: last.id, attempt: last.goal.attempt };
}

function isByRepair({ maintenances }: State, { by, reason }: NonNullable<Node['drain']>): boolean {
  if (by !== 'system') return false;
  const [, id = ''] = /^maintenance (m\d+): /.exec(reason) ?? [];
  return reason.startsWith(GIVEN_UP) || maintenances.get(id)?.goal !== undefined;
}
