// Pools that have no worker and get none unless somebody acts: their calls would wait for ever.

import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { Fleet } from '../../pilots/machine/facts.ts';
import { fleetLabel } from '../../pilots/model/pilot.ts';

/** In words, with the way out; null: a worker may come. Asked of pools without workers. */
export function whyHopeless(state: State, job: Job): string | null {
  if (job.held) return `The pool is held: \`weft release ${job.id}\` lets its workers start.`;
  return crashed(job) ?? withoutFleet(state, job);
}

/** All workers that it may have were held by the crash limit. */
function crashed({ id, active, pending }: Job): string | null {
  if (active.size === 0 || pending.size > 0) return null;
  let because: string | null = null;
  for (const task of active.values()) {
    if (task.heldBecause === null) return null;
    because = task.heldBecause;
  }
  return `Its workers do not start: ${because}. \`weft release ${id}\` tries again.`;
}

/**
 * Why a pool whose workers are for pilots of an ended fleet is hopeless. A fleet that nobody has
 * heard of may be started yet.
 */
function withoutFleet({ fleets, endedFleets, nodes }: State, { spec }: Job): string | null {
  for (const label of spec.request.labels) {
    const [, name = ''] = /^pilot=([^ |&!()]+)$/.exec(label) ?? [];
    const fleet = fleets.get(name);
    if (!(fleet === undefined ? endedFleets.has(name) : isOver(fleet))) continue;
    const hasNode = [...nodes.values()].some(({ labels }) => labels.has(fleetLabel(name)));
    if (hasNode) continue;
    return `Its workers run on pilots of the fleet ${name}, which has ended. Start another fleet and pool.`;
  }
  return null;
}

function isOver({ stoppedBy, isOnce, isServed, launches }: Fleet): boolean {
  return stoppedBy !== null || (isOnce && isServed && launches.size === 0);
}
