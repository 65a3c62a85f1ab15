// Which nodes the site's fence command should switch off, derived from state like orders are.

import type { NodeName } from '../../model/ids.ts';
import type { State } from '../state.ts';
import type { Node } from './facts.ts';
import { maintenanceOn } from './in-maintenance.ts';

/** A wish to have evidence about a node; worth nothing once the node has another session. */
export interface FenceRequest {
  readonly node: NodeName;
  readonly session: number;
}

/**
 * Silent nodes that hold tasks which wait for evidence, or for the end of a lease. One in
 * maintenance is silent because somebody works on it.
 */
export function outstandingFences(state: State): FenceRequest[] {
  return [...state.nodes.values()]
    .filter((node) => needsFence(node) && maintenanceOn(state, node.name) === null)
    .map(({ name: node, session }) => ({ node, session }));
}

function needsFence({ connected, unreachableSince, holding, clones }: Node): boolean {
  if (connected || unreachableSince === null) return false;
  // Which of the machines would be switched off?
  if (clones.length > 0) return false;
  for (const { task } of holding.values()) if (task !== null) return true;
  return false;
}
