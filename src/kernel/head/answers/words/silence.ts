// What is said of a task whose nodes cannot be heard or are paused: since when, and what comes next.

import { formatDuration } from '../../../base/duration.ts';
import { formatInstant } from '../../../base/instant.ts';
import type { Silence } from '../../../machine/answers/silence.ts';
import type { JobSpec } from '../../../model/job.ts';
import { pauseWords } from '../../../model/pause.ts';

export function saySilence(silence: Silence): string {
  const { kind, node } = silence;
  if (kind === 'paused') {
    return `Node ${node} is ${pauseWords(silence.pause)}; the task resumes when that ends.`;
  }
  if (kind === 'silent') {
    const since = silence.since === null ? 'the head started' : formatInstant(silence.since);
    return `Node ${node} has been silent since ${since}; the task is assumed to run on there.`;
  }
  const since = formatInstant(silence.since);
  return `Node ${node} has been unreachable since ${since}; ${next(node, silence.spec)}`;
}

function next(node: string, spec: Pick<JobSpec, 'requeue' | 'onNodeLoss'>): string {
  const then = spec.requeue ? 'is started again' : 'ends as node_fail';
  const { onNodeLoss } = spec;
  if (onNodeLoss.kind === 'requeue') return `the task ${then}.`;
  if (onNodeLoss.kind === 'lease') {
    const lease = formatDuration(onNodeLoss.leaseMs);
    return `the task ${then} when the lease of ${lease} and the kill grace have passed.`;
  }
  return (
    `the task continues when the node is back; it ${then} only on proof that its processes are ` +
    `gone: a restart of the node, or \`weft node lost ${node}\` by an operator. ` +
    "An operator's `weft cancel` ends it at once."
  );
}
