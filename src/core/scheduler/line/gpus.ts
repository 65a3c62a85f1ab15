// Who needs a node with gpus. On such a node they go before those who only happen to fit there.

import { SortedList } from '../../base/sorted-list.ts';
import type { ResourceRequest } from '../../model/job.ts';
import type { Band, Group } from './queue.ts';

/** What nodes with gpus are called where gpus are not counted. */
export const GPU_LABEL = 'gpu';

export function needsGpus({ perNode, labels }: ResourceRequest): boolean {
  return perNode.gpuCount > 0 || labels.includes(GPU_LABEL);
}

/** These groups, as a line of their own takes them. */
export function bandsOf(groups: Iterable<Group>): Band[] {
  return Array.from(groups, (group) => {
    const alone = new SortedList<Group>(() => 0);
    alone.insert(group);
    return { ...group.band, groups: alone };
  });
}
