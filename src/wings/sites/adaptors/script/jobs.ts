// Jobs as a program lists them: the keys are those of kernel/model/site.ts, and what is left out is
// not known.

import { IntervalSet } from '../../../../kernel/base/interval-set.ts';
import { ok } from '../../../../kernel/base/result.ts';
import {
  ARRAY_INDEX_MAX,
  ARRAY_TASKS_MAX,
  NODES_PER_TASK_MAX,
  SITE_JOBS_MAX,
} from '../../../../kernel/model/limits.ts';
import type { SiteJob, SiteJobState, SiteWhere } from '../../../../kernel/model/site.ts';
import { notPlanned } from '../read.ts';
import { jobId, text } from './contract.ts';
import { flag, line, list, oneOf, orNull, record, type Shape, unexpected, whole } from './shape.ts';
import {
  amount,
  anyNames,
  distinct,
  exitStatus,
  instant,
  nodeNames,
  some,
  words,
} from './values.ts';

const STATES: readonly SiteJobState[] = [
  ...(['held', 'waiting', 'starting', 'running', 'suspended', 'completing'] as const),
  ...(['ended', 'unknown'] as const),
];

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

const listedWhere = record<{ [K in keyof SiteWhere]-?: NonNullable<SiteWhere[K]> | null }>({
  only: orNull(some(anyNames)),
  not: orNull(anyNames),
  features: orNull(words),
  queues: orNull(some(words)),
});

const where: Shape<SiteWhere> = (value, at) => {
  const read = listedWhere(value, at);
  if (!read.ok) return read;
  return ok(Object.fromEntries(Object.entries(read.value).filter(([, said]) => said !== null)));
};

type Unsaid = 'seen' | 'isCancelled' | 'isHeldByUs' | 'note';

interface ListedJob extends Omit<SiteJob, 'word' | 'nodeCount' | 'where' | Unsaid> {
  readonly word: string | null;
  readonly nodeCount: number | null;
  readonly where: SiteWhere | null;
  /** What it asks for that only its site understands. */
  readonly unplanned: string | null;
}

const listedJob = record<ListedJob>({
  id: { shape: jobId },
  name: { shape: text },
  owner: { shape: owner },
  state: { shape: oneOf(...STATES) },
  word: orNull(text),
  reason: orNull(text),
  queue: orNull(text),
  handle: orNull(text),
  elements: orNull(indices),
  submittedAt: orNull(instant),
  startedAt: orNull(instant),
  endedAt: orNull(instant),
  walltimeMs: orNull(limit),
  nodeCount: orNull(whole(1, NODES_PER_TASK_MAX, 'a number of nodes')),
  cpuCount: orNull(whole(1, Number.MAX_SAFE_INTEGER, 'a number of cpus')),
  memoryBytes: orNull(amount),
  isExclusive: { shape: flag, otherwise: false },
  nodes: { shape: nodeNames, otherwise: [] },
  exit: orNull(exitStatus),
  where: orNull(where),
  unplanned: orNull(text),
});

const job = (isPlanned: boolean): Shape<SiteJob> => {
  return (value, at) => {
    const read = listedJob(value, at);
    if (!read.ok) return read;
    const { where: _, unplanned: __, ...listed } = read.value;
    const { word, nodeCount, state, exit, endedAt, nodes } = listed;
    if (state !== 'ended' && (exit !== null || endedAt !== null)) {
      const [key, found] = exit === null ? ['endedAt', endedAt] : ['exit', exit];
      return unexpected(found, `${at}.${key}`, `none of a job that is ${state}`);
    }
    const count = nodeCount ?? Math.max(1, nodes.length);
    const placed = isPlanned ? placing(read.value) : {};
    return ok({ ...listed, word: word ?? state, nodeCount: count, ...placed });
  };
};

/** What a waiting one wants of its nodes; one that wants what nobody plans is held for that. */
function placing({ state, queue, where: asked, unplanned }: ListedJob): Partial<SiteJob> {
  if (state !== 'waiting' && state !== 'held') return {};
  const where = { ...(queue === null ? {} : { queues: [queue] }), ...asked };
  const placed = Object.keys(where).length === 0 ? {} : { where };
  if (unplanned === null || state === 'held') return placed;
  return { ...placed, state: 'held', reason: notPlanned(unplanned), isHeldByUs: true };
}

/** @param isPlanned a plan of ours starts what waits */
export const jobs = (isPlanned: boolean): Shape<readonly SiteJob[]> =>
  distinct(list(job(isPlanned), SITE_JOBS_MAX), ({ id }) => id);
