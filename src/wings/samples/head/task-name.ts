// Whose a task is that a node tells of, and what it may use there.

import type { Holding, Node } from '../../../kernel/machine/nodes/facts.ts';
import type { TaskName } from '../core/task-curve.ts';

/**
 * Amounts are those that it holds, which are the whole node where it asked for that. Null: it is
 * stale.
 */
export function nameOf(
  { task, share, epochId }: Holding,
  { name: node, gpus }: Pick<Node, 'name' | 'gpus'>,
): TaskName | null {
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
    cards: share.gpus.flatMap((number) => uuidOf(gpus, number)).join(),
  };
}

function uuidOf(gpus: Node['gpus'], number: number): string[] {
  const card = gpus?.cards.find((one) => one.number === number);
  return card === undefined ? [] : [card.uuid];
}
