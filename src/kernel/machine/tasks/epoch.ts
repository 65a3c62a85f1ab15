// The number of a start.

import { formatEpochId, formatTaskId } from '../../model/ids.ts';
import type { Share } from '../../model/orders.ts';
import type { Job } from '../jobs/facts.ts';
import { placeOf } from '../jobs/place.ts';
import type { State } from '../state.ts';

/**
 * Larger than all that the task has had, also in records that are lost. What a node still holds
 * from before the head was put back may have the next one: then it is passed over.
 */
export function nextEpoch(
  { epochFloor, losses, nodes }: State,
  { job, index }: { readonly job: Job; readonly index: number },
  shares: readonly Share[],
): number {
  const taskId = formatTaskId(job.id, placeOf(job, index).index);
  // No lost record is of a job whose id was skipped then: its program may go by which start it is.
  const floor = job.id >= (losses.at(-1)?.given.nextJobId ?? 0) ? 0 : epochFloor;
  let epoch = Math.max(job.active.get(index)?.epoch ?? 0, floor) + 1;
  const isTaken = ({ node }: Share): boolean =>
    nodes.get(node)?.holding.has(formatEpochId(taskId, epoch)) === true;
  while (shares.some(isTaken)) epoch += 1;
  return epoch;
}
