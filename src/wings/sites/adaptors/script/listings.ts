// Nodes, queues and ends as a program lists them: the keys are those of kernel/model/site.ts, and
// what is left out is not known.

import { ok } from '../../../../kernel/base/result.ts';
import { CPUS_PER_NODE_MAX, SITE_NODES_MAX } from '../../../../kernel/model/limits.ts';
import type { SiteEnd, SiteNode, SiteNodeState, SiteQueue } from '../../../../kernel/model/site.ts';
import { text } from './contract.ts';
import { flag, list, oneOf, orNull, record, type Shape, whole } from './shape.ts';
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
  name: { shape: nodeName },
  state: { shape: oneOf(...STATES) },
  word: orNull(text),
  reason: orNull(text),
  isStopped: orNull(flag),
  cpuCount: { shape: cpus },
  cpusUsed: { shape: cpus, otherwise: 0 },
  memoryBytes: orNull(amount),
  memoryFreeBytes: orNull(amount),
  features: { shape: words, otherwise: [] },
  queues: { shape: words, otherwise: [] },
});

const node: Shape<SiteNode> = (value, at) => {
  const read = listedNode(value, at);
  if (!read.ok) return read;
  const { isStopped, ...listed } = read.value;
  const parts = isStopped === null ? {} : { parts: [{ name: listed.name, isOpen: !isStopped }] };
  return ok({ ...listed, word: listed.word ?? listed.state, ...parts });
};

const queue = record<Omit<SiteQueue, 'seen'>>({
  name: { shape: text },
  isOpen: { shape: flag, otherwise: true },
  isStarted: { shape: flag, otherwise: true },
  walltimeMaxMs: orNull(amount),
  nodes: { shape: nodeNames, otherwise: [] },
});

export const nodes = distinct(list(node, SITE_NODES_MAX), ({ name }) => name);
export const queues = distinct(list(queue, SITE_NODES_MAX), ({ name }) => name);

export const end = record<Omit<SiteEnd, 'nodes' | 'firstNode' | 'namedNodes'>>({
  startedAt: orNull(instant),
  endedAt: { shape: instant },
  exit: { shape: exitStatus },
  reason: orNull(text),
});
