// Snapshots for the scheduler, made of short words, and a plan as text.

import { IntervalSet } from '../../src/kernel/base/interval-set.ts';
import {
  ANY_KIND,
  allOf,
  type Deck,
  deckOf,
  type GpuKind,
  heldOn,
} from '../../src/kernel/model/cards.ts';
import type { JobId, NodeName, UserName } from '../../src/kernel/model/ids.ts';
import type { ResourceRequest } from '../../src/kernel/model/job.ts';
import {
  addResources,
  type Resources,
  subtractResources,
} from '../../src/kernel/model/resources.ts';
import { DEFAULT_QOS, type Policy, plainScheduling } from '../../src/kernel/model/scheduling.ts';
import type { Plan } from '../../src/kernel/scheduler/cycle/plan.ts';
import { NO_RULES, type Snapshot } from '../../src/kernel/scheduler/cycle/snapshot.ts';
import { Queue, type QueueEntry, ShapeBook } from '../../src/kernel/scheduler/line/queue.ts';
import { NodePool, type NodeView, type Running } from '../../src/kernel/scheduler/room/pool.ts';
import { type Amounts, resources } from './nodes.ts';

/** A node, and what of it is taken already. */
export interface NodeWords extends Amounts {
  readonly name: string;
  readonly used?: Amounts;
  readonly labels?: readonly string[];
  /** When what is used ends, ms; absent = nobody knows. */
  readonly until?: number;
  /**
   * The types of the gpus, `a100-80g`; those that are used are the first ones. Absent: only
   * counted.
   */
  readonly types?: readonly string[];
  /** Letters of the groups of gpus that are joined by NVLink, `aabb`; a dot: with none. */
  readonly links?: string;
}

/** A waiting job; `tasks` of more than one are an array from index 0. */
export interface JobWords extends Amounts {
  readonly nodes?: number;
  readonly names?: readonly string[];
  readonly labels?: readonly string[];
  readonly exclusive?: boolean;
  readonly nice?: number;
  readonly tasks?: number;
  readonly runningMax?: number;
  readonly running?: number;
  /** Time limit in ms; absent = none. */
  readonly time?: number;
  readonly owner?: string;
  readonly qos?: string;
  readonly partition?: string;
  readonly reservation?: string;
  readonly submittedAt?: number;
  /** Which gpus. Absent: any whole ones. */
  readonly kind?: Partial<GpuKind>;
  /** What it asks of the whole cluster. */
  readonly ofCluster?: Readonly<Record<string, number>>;
}

export function view(words: NodeWords, order: number): NodeView {
  const total = resources(words);
  const used = resources(words.used ?? {});
  const usedGpus = used.gpuCount;
  const labels = new Set(words.labels ?? []);
  const deck = deckIn(words);
  const all = deck === null ? total : { ...total, cards: allOf(deck) };
  return {
    name: words.name as NodeName,
    order,
    total: all,
    free: subtractResources(all, usedOf(words)),
    gpusFree: Array.from({ length: total.gpuCount - usedGpus }, (_, at) => at + usedGpus),
    labels,
    labelsKey: [...labels].sort().join(','),
    idle: words.used === undefined,
    running: runningOf(words),
  };
}

/** Bytes of memory of a type: 80 of `a100-80g`. Others have 10. */
function deckIn({ types, links }: NodeWords): Deck | null {
  if (types === undefined) return null;
  const cards = types.map((type, number) => {
    const memoryBytes = Number(/-(\d+)g$/.exec(type)?.[1] ?? 10);
    const card = { number, type, memoryBytes, isSlice: false, numaNode: null };
    const group = links?.[number] ?? '.';
    return group === '.' ? card : { ...card, linkedWith: group };
  });
  return deckOf(cards);
}

function usedOf(words: NodeWords): Resources {
  const used = resources(words.used ?? {});
  const deck = deckIn(words);
  if (deck === null) return used;
  const numbers = Array.from({ length: used.gpuCount }, (_, number) => number);
  return { ...used, cards: heldOn(deck, numbers, null) };
}

function runningOf(words: NodeWords): Running[] {
  const { used, until } = words;
  if (used === undefined) return [];
  const walltimeMs = until ?? null;
  const what = { jobId: 99 as JobId, index: 0, resources: usedOf(words), reservation: null };
  return [{ ...what, startedAt: 0, walltimeMs }];
}

function perNodeOf(words: JobWords): Resources {
  const { kind } = words;
  if (kind === undefined) return resources(words);
  return { ...resources(words), gpuKind: { ...ANY_KIND, ...kind } };
}

export function request(words: JobWords): ResourceRequest {
  return {
    nodeCount: words.nodes ?? 1,
    processesPerNode: 1,
    perNode: perNodeOf(words),
    exclusive: words.exclusive ?? false,
    labels: words.labels ?? [],
    nodeNames: (words.names ?? []) as NodeName[],
    ...(words.ofCluster === undefined ? {} : { ofCluster: words.ofCluster }),
  };
}

/** Jobs get the ids 1, 2, … in the order given. */
export function entries(jobs: readonly JobWords[]): QueueEntry[] {
  const shapes = new ShapeBook();
  return jobs.map((words, at) => ({
    jobId: (at + 1) as JobId,
    owner: (words.owner ?? 'alice') as UserName,
    qos: words.qos ?? DEFAULT_QOS,
    submittedAt: words.submittedAt ?? 0,
    nice: words.nice ?? 0,
    shape: shapes.of({
      partition: words.partition ?? 'default',
      request: request(words),
      walltimeMs: words.time ?? null,
      reservation: words.reservation ?? null,
    }),
    pending: IntervalSet.of([[0, (words.tasks ?? 1) - 1]]),
    runningMax: words.runningMax ?? null,
    running: words.running ?? 0,
  }));
}

export function snapshot(
  nodes: readonly NodeWords[],
  jobs: readonly JobWords[],
  more: Partial<Snapshot> & { policy?: Policy } = {},
): Snapshot {
  const pool = new NodePool();
  nodes.forEach((words, at) => {
    pool.set(view(words, at + 1));
  });
  const queue = new Queue();
  for (const entry of entries(jobs)) queue.add(entry);
  const { policy = 'first_fit', ...rest } = more;
  const scheduling = plainScheduling(policy);
  return { ...NO_RULES, queue, pool, scheduling, startsMax: 512, ...rest };
}

/** `1@n1 2[3]@n1+n2 …`, indices shown where they are not 0. */
export function planWords(plan: Plan): string {
  const starts = plan.starts.map(({ jobId, index, shares }) => {
    const task = index === 0 ? `${jobId}` : `${jobId}[${index}]`;
    return `${task}@${shares.map((share) => share.node).join('+')}`;
  });
  return starts.join(' ') + (plan.rest === null ? '' : ' …');
}

/** The pool after the plan: what is left, by taking the shares away one by one. */
export function afterwards(nodes: readonly NodeView[], plan: Plan): NodeView[] {
  return nodes.map((node) => {
    const taken = plan.starts.flatMap(({ shares }) =>
      shares.filter((share) => share.node === node.name),
    );
    const used = taken.map((share) => share.resources).reduce(addResources, resources({}));
    const gpus = new Set(taken.flatMap((share) => share.gpus));
    return {
      ...node,
      free: subtractResources(node.free, used),
      gpusFree: node.gpusFree.filter((gpu) => !gpus.has(gpu)),
      idle: node.idle && taken.length === 0,
    };
  });
}
