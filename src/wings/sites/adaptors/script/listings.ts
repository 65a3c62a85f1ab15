// Nodes, queues and ends as a program lists them: the keys are those of core/model/site.ts, and what is
// left out is not known.

import { IntervalSet } from '../../../../kernel/base/interval-set.ts';
import { type Result, err, ok } from '../../../../kernel/base/result.ts';
import type { ExitStatus } from '../../../../kernel/model/job.ts';
import { ARRAY_INDEX_MAX, ARRAY_TASKS_MAX, CPUS_PER_NODE_MAX, NODES_PER_TASK_MAX, SITE_JOBS_MAX, SITE_NODES_MAX } from '../../../../kernel/model/limits.ts';
import type { SiteEnd, SiteJob, SiteJobState, SiteNode, SiteNodeState, SiteQueue } from '../../../../kernel/model/site.ts';
import { TEXT_MAX, jobId, text } from './contract.ts';
import { type Shape, flag, line, list, oneOf, orNull, record, unexpected, whole } from './shape.ts';
import { amount, distinct, exitStatus, instant, nodeName, nodeNames, words } from './values.ts';

const STATES: readonly SiteNodeState[] = [
  ...(['idle', 'running', 'busy', 'stopped', 'down', 'unknown'] as const),
];

const cpus = whole(0, CPUS_PER_NODE_MAX, 'a whole number of cpus');

interface ListedNode extends Omit<SiteNode, 'word' | 'parts' | 'seen'> {
  readonly word: string | null;
  readonly isStopped: boolean | null;
}

const listedNode = record<ListedNode>({
  ...{ name: { shape: nodeName }, state: { shape: oneOf(...STATES) } },
  ...{ word: orNull(text), reason: orNull(text), isStopped: orNull(flag) },
  ...{ cpuCount: { shape: cpus }, cpusUsed: { shape: cpus, otherwise: 0 } },
  ...{ memoryBytes: orNull(amount), memoryFreeBytes: orNull(amount) },
  ...{ features: { shape: words, otherwise: [] }, queues: { shape: words, otherwise: [] } },
});

const node: Shape<SiteNode> = (value, at) => {
  const read = listedNode(value, at);
  if (!read.ok) return read;
  const { isStopped, ...listed } = read.value;
  const parts = isStopped === null ? {} : { parts: [{ name: listed.name, isOpen: !isStopped }] };
  return ok({ ...listed, word: listed.word ?? listed.state, ...parts });
};

const queue = record<Omit<SiteQueue, 'seen'>>({
  ...{ name: { shape: text }, isOpen: { shape: flag, otherwise: true } },
  isStarted: { shape: flag, otherwise: true },
  ...{ walltimeMaxMs: orNull(amount), nodes: { shape: nodeNames, otherwise: [] } },
});

export const nodes = distinct(list(node, SITE_NODES_MAX), ({ name }) => name);
export const queues = distinct(list(queue, SITE_NODES_MAX), ({ name }) => name);

export const end = record<Omit<SiteEnd, 'nodes' | 'firstNode' | 'namedNodes'>>({
  ...{ startedAt: orNull(instant), endedAt: { shape: instant } },
  ...{ exit: { shape: exitStatus }, reason: orNull(text) },
});
