// Who needs a node with gpus. On such a node they go before those who only happen to fit there.

import type { ResourceRequest } from '../../model/job.ts';

/** What nodes with gpus are called where gpus are not counted. */
export const GPU_LABEL = 'gpu';

export function needsGpus({ perNode, labels }: ResourceRequest): boolean {
  return perNode.gpuCount > 0 || labels.includes(GPU_LABEL);
}
