// The memory of a job that asks for none: each cpu that it asks for gets its part of its node's.
// Decided at submission, of the nodes as they are then, so that it stands in the job's record.

import type { ResourceRequest } from '../../model/job.ts';
import type { Partition } from '../../model/scheduling.ts';
import { isMember } from '../../model/scheduling.ts';
import { couldHold } from '../../scheduler/answers/explain.ts';
import { totalOf } from '../nodes/cards.ts';
import type { Node } from '../nodes/facts.ts';
import { labelsOf, sizesOf } from '../nodes/view.ts';
import type { MemoryShare } from '../scratch.ts';
import type { State } from '../state.ts';

type Request = Pick<ResourceRequest, 'nodeNames' | 'labels' | 'perNode'>;

const MIB = 1_048_576;
/** More kinds of requests than this in a row are not worth remembering. */
const REMEMBERED_MAX = 1000;

/**
 * Bytes per node; 0: no node could hold the rest of the request. Where nodes differ, the least of
 * those that could hold it: then memory keeps no cpu idle on any of them, and equal requests are
 * one shape. Drained and silent nodes count, so that the answer does not change while they are
 * away.
 */
export function defaultMemory(state: State, request: Request, partition: Partition): number {
  const { cpuCount } = request.perNode;
  const bytes = shareOf(state, request, partition) * Math.max(1, cpuCount);
  const whole = Math.floor(bytes / MIB) * MIB;
  return Math.min(whole, partition.limits.memoryPerNodeBytes ?? Infinity);
}

/** Each submission asks, and looks at all nodes only after one has changed. */
function shareOf(state: State, request: Request, partition: Partition): number {
  const { memoryShares } = state.scratch;
  const { cpuCount, gpuCount, gpuKind, counted } = request.perNode;
  const { nodeNames, labels } = request;
  const key = JSON.stringify([
    partition.name,
    cpuCount,
    gpuCount,
    gpuKind ?? null,
    counted,
    nodeNames,
    labels,
  ]);
  const known = memoryShares.get(key);
  if (known?.nodes === partition.nodes && known.labels === partition.labels) return known.bytes;
  if (memoryShares.size >= REMEMBERED_MAX) memoryShares.clear();
  const share: MemoryShare = {
    nodes: partition.nodes,
    labels: partition.labels,
    bytes: leastShare(state.nodes.values(), request, partition),
  };
  memoryShares.set(key, share);
  return share.bytes;
}

function leastShare(nodes: Iterable<Node>, request: Request, partition: Partition): number {
  const bare = { ...request, perNode: { ...request.perNode, memoryBytes: 0 } };
  let least = Infinity;
  for (const node of nodes) {
    const { name } = node;
    const total = totalOf(node);
    if (total.cpuCount === 0) continue;
    const outline = { name, total, labels: labelsOf(node), ...sizesOf(node) };
    if (!isMember(partition, outline) || !couldHold(outline, bare)) continue;
    least = Math.min(least, total.memoryBytes / total.cpuCount);
  }
  return least === Infinity ? 0 : least;
}
