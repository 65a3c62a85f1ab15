// Whose a task is that a node tells of, and what it may use there.

import type { Holding } from '../../../kernel/machine/nodes/facts.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';
import type { TaskName } from '../core/task-curve.ts';

/**
 * Amounts are those that it holds, which are the whole node where it asked for that. Null: it is
 * stale.
 */
export function nameOf({ task, share, epochId }: Holding, node: NodeName): TaskName | null {
  if (task === null) return null;
  const { cpuCount, memoryBytes, gpuCount } = share.resources;
  return {
    jobId: task.job.id,
    epochId,
    node,
    owner: task.job.owner,
    cpuMilliAsked: cpuCount * 1000,
    memoryBytesAsked: memoryBytes,
    gpuMilliAsked: gpuCount * 1000,
  };
}
