// The number of a start.

import { formatEpochId, formatTaskId } from '../../model/ids.ts';
import type { Share } from '../../model/orders.ts';
import type { Job } from '../jobs/facts.ts';
import type { State } from '../state.ts';
import { placeOf } from './place.ts';

/**
 * Larger than all that the task has had, also in records that are lost. What a node still holds from
 * before the head was put back may have the next one: then it is passed over.
 */
export function nextEpoch(
  { epochFloor, nodes }: State,
  { job, index }: { readonly job: Job; readonly index: number },
  shares: readonly Share[],
): number {
  const taskId = formatTaskId(job.id, placeOf(job, index).index);
  let epoch = Math.max(job.active.get(index)?.epoch ?? 0, epochFloor) + 1;
  const isTaken = ({ node }: Share): boolean =>
    nodes.get(node)?.holding.has(formatEpochId(taskId, epoch)) === true;
  while (shares.some(isTaken)) epoch += 1;
  return epoch;
}
