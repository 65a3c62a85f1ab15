// What is said of a task whose nodes cannot be heard or are paused: since when, and what comes next.

import { formatDuration } from '../../core/base/duration.ts';
import { formatInstant } from '../../core/base/instant.ts';
import type { Task } from '../../core/controller/jobs/facts.ts';
import type { Node } from '../../core/controller/nodes/facts.ts';
import type { State } from '../../core/controller/state.ts';
import type { NodeName } from '../../core/model/ids.ts';
import type { JobSpec } from '../../core/model/job.ts';
import { pauseWords } from '../../core/model/pause.ts';

/** Null while all nodes of the task are connected and none is paused. */
export function noticeOf(state: State, task: Task): string | null {
  for (const [name, part] of task.parts) {
    if (part.state === 'ended') continue;
    const node = state.nodes.get(name);
    if (node === undefined) continue;
    if (!node.connected) return describe(node, task.job.spec);
    const { now } = node.pausing;
    if (now !== null)
      return `Node ${name} is ${pauseWords(now)}; the task goes on when that is over.`;
  }
  return null;
}

function describe(node: Node, spec: JobSpec): string {
  if (node.unreachableSince === null) {
    const since = node.lastSeenAt === null ? 'the head started' : formatInstant(node.lastSeenAt);
    return `Node ${node.name} has been silent since ${since}; the task is assumed to run on there.`;
  }
  return `Node ${node.name} has been unreachable since ${formatInstant(node.unreachableSince)}; ${next(node.name, spec)}`;
}

function next(node: NodeName, spec: JobSpec): string {
  const then = spec.requeue ? 'is started again' : 'ends as node_fail';
  const { onNodeLoss } = spec;
  if (onNodeLoss.kind === 'requeue') return `the task ${then}.`;
  if (onNodeLoss.kind === 'lease') {
    const lease = formatDuration(onNodeLoss.leaseMs);
    return `the task ${then} when the lease of ${lease} and the kill grace have passed.`;
  }
  return (
    `the task continues when the node is back; it ${then} only on proof that its processes are ` +
    `gone: a restart of the node, or \`weft node lost ${node}\` by an operator.`
  );
}
