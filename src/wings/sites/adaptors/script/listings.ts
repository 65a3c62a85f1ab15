// Jobs, nodes and queues as a program lists them: the keys are those of core/model/site.ts, and what is
// left out is not known.

import { IntervalSet } from '../../../../kernel/base/interval-set.ts';
import { err, ok, type Result } from '../../../../kernel/base/result.ts';
import type { ExitStatus } from '../../../../kernel/model/job.ts';
import {
  ARRAY_INDEX_MAX,
  ARRAY_TASKS_MAX,
  CPUS_PER_NODE_MAX,
  NODES_PER_TASK_MAX,
  SITE_JOBS_MAX,
  SITE_NODES_MAX,
} from '../../../../kernel/model/limits.ts';
import type {
  SiteEnd,
  SiteJob,
  SiteJobState,
  SiteNode,
  SiteNodeState,
  SiteQueue,
} from '../../../../kernel/model/site.ts';
import { jobId, TEXT_MAX, text } from './contract.ts';
import { flag, line, list, oneOf, orNull, record, type Shape, unexpected, whole } from './shape.ts';

const JOB_STATES: readonly SiteJobState[] = [
  ...(['held', 'waiting', 'starting', 'running', 'suspended', 'completing'] as const),
  ...(['ended', 'unknown'] as const),
];
const NODE_STATES: readonly SiteNodeState[] = [
  ...(['idle', 'running', 'busy', 'stopped', 'down', 'unknown'] as const),
];

const WORDS_MAX = 1000;
const NODE_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,200}[A-Za-z0-9])?$/;

const amount = whole(0, Number.MAX_SAFE_INTEGER, 'a whole number');
const cpus = whole(0, CPUS_PER_NODE_MAX, 'a whole number of cpus');
const words = list(line(TEXT_MAX, 'a word', /^\S+$/), WORDS_MAX);
const nodeName = line(202, "a node's name: letters, digits, dots, dashes, underscores", NODE_NAME);
const nodeNames = distinct(list(nodeName, NODES_PER_TASK_MAX), (name) => name);
/** After 2000: seconds in the place of ms are a mistake that is easily made. */
const instant = whole(946_684_800_000, 8_640_000_000_000_000, 'ms since 1970');
const limit = whole(1, Number.MAX_SAFE_INTEGER, 'ms, at least 1');
const owner = line(256, 'the name of an account', /./);

const RANGES = line(10_000, 'indices, like 0-3,7', /^\d{1,9}(-\d{1,9})?(,\d{1,9}(-\d{1,9})?)*$/);

const indices: Shape<string> = (value, at) => {
  const read = RANGES(value, at);
  if (!read.ok) return read;
  const set = new IntervalSet();
  for (const range of read.value.split(',')) {
    const [from = 0, to = from] = range.split('-').map(Number);
    if (to < from || to > ARRAY_INDEX_MAX) return unexpected(value, at, 'indices, like 0-3,7');
    set.addRange(from, to);
  }
  if (set.size <= ARRAY_TASKS_MAX) return ok(set.toString());
  return unexpected(value, at, `at most ${ARRAY_TASKS_MAX} indices`);
};

export const exitStatus: Shape<ExitStatus> = (value, at) => {
  const read = record<{ code: number | null; signal: number | null }>({
    code: orNull(whole(0, 255, 'an exit code')),
    signal: orNull(whole(1, 64, "a signal's number")),
  })(value, at);
  if (!read.ok) return read;
  const { code, signal } = read.value;
  if (code !== null && signal === null) return ok({ code });
  return signal !== null && code === null
    ? ok({ signal })
    : unexpected(value, at, 'either a code or a signal');
};

type Unsaid = 'seen' | 'isCancelled' | 'where' | 'isHeldByUs' | 'note';

interface ListedJob extends Omit<SiteJob, 'word' | 'nodeCount' | Unsaid> {
  readonly word: string | null;
  readonly nodeCount: number | null;
}

const listedJob = record<ListedJob>({
  ...{ id: { shape: jobId }, name: { shape: text }, owner: { shape: owner } },
  state: { shape: oneOf(...JOB_STATES) },
  ...{ word: orNull(text), reason: orNull(text), queue: orNull(text), handle: orNull(text) },
  elements: orNull(indices),
  ...{ submittedAt: orNull(instant), startedAt: orNull(instant), endedAt: orNull(instant) },
  walltimeMs: orNull(limit),
  nodeCount: orNull(whole(1, NODES_PER_TASK_MAX, 'a number of nodes')),
  ...{
    cpuCount: orNull(whole(1, Number.MAX_SAFE_INTEGER, 'a number of cpus')),
    memoryBytes: orNull(amount),
  },
  isExclusive: { shape: flag, otherwise: false },
  nodes: { shape: nodeNames, otherwise: [] },
  exit: orNull(exitStatus),
});

const job: Shape<SiteJob> = (value, at) => {
  const read = listedJob(value, at);
  if (!read.ok) return read;
  const { word, nodeCount, state, exit, endedAt, nodes } = read.value;
  if (state !== 'ended' && (exit !== null || endedAt !== null)) {
    const [key, found] = exit === null ? ['endedAt', endedAt] : ['exit', exit];
    return unexpected(found, `${at}.${key}`, `none of a job that is ${state}`);
  }
  const count = nodeCount ?? Math.max(1, nodes.length);
  return ok({ ...read.value, word: word ?? state, nodeCount: count });
};

interface ListedNode extends Omit<SiteNode, 'word' | 'parts' | 'seen'> {
  readonly word: string | null;
  readonly isStopped: boolean | null;
}

const listedNode = record<ListedNode>({
  ...{ name: { shape: nodeName }, state: { shape: oneOf(...NODE_STATES) } },
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

export const jobs = distinct(list(job, SITE_JOBS_MAX), ({ id }) => id);
export const nodes = distinct(list(node, SITE_NODES_MAX), ({ name }) => name);
export const queues = distinct(list(queue, SITE_NODES_MAX), ({ name }) => name);

export const end = record<Omit<SiteEnd, 'nodes' | 'firstNode' | 'namedNodes'>>({
  ...{ startedAt: orNull(instant), endedAt: { shape: instant } },
  ...{ exit: { shape: exitStatus }, reason: orNull(text) },
});

/** Which of two of the same name would be believed? */
function distinct<T>(shape: Shape<readonly T[]>, nameOf: (one: T) => string): Shape<readonly T[]> {
  return (value, at): Result<readonly T[], string> => {
    const read = shape(value, at);
    if (!read.ok) return read;
    const names = new Set<string>();
    for (const [index, one] of read.value.entries()) {
      const name = nameOf(one);
      if (names.has(name)) return err(`${at}[${index}] is '${name}' again; expected each once`);
      names.add(name);
    }
    return read;
  };
}
