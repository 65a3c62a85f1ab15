// A node as others see it: its labels, what holds its resources, and the scheduler's view of both.

import { NO_ROOT_LABEL, OF_SOME_LABEL, userLabel } from '../../model/accounts.ts';
import type { JobId } from '../../model/ids.ts';
import { SHARED_PREFIX } from '../../model/labels.ts';
import { featureLabel, NODE_FEATURES } from '../../model/node-features.ts';
import { NO_RESOURCES, type Resources } from '../../model/resources.ts';
import type { NodeView, Occupant, Running } from '../../scheduler/room/pool.ts';
import type { Job, Task } from '../jobs/facts.ts';
import { countsFrom, limitOf } from '../tasks/time-limit.ts';
import { occupiedBy, roomOf, totalOf } from './cards.ts';
import type { Labelling, Node } from './facts.ts';

/** No job has it: what holds the share is over for the head. */
const STALE_JOB = 0 as JobId;

/**
 * The labels of a node: those it brings, those it was given, and one for each directory that it
 * shares and each feature of its agent, and of whom it takes jobs.
 */
export function labelsOf(node: Node): ReadonlySet<string> {
  return labellingOf(node).labels;
}

/** Made anew when labels change: every start and every end of a task asks for it. */
function labellingOf(node: Node): Labelling {
  node.labelling ??= labelled([
    ...node.labels,
    ...node.agentLabels,
    ...node.failedBuilds,
    ...node.sharedPaths.map(sharedLabel),
    ...(node.features ?? NODE_FEATURES).map(featureLabel),
    ...(node.facts?.switchesUser === true ? [NO_ROOT_LABEL] : []),
    ...takenFrom(node),
  ]);
  return node.labelling;
}

function takenFrom({ facts }: Node): string[] {
  const users = facts?.takesFrom;
  return users === undefined ? [] : [OF_SOME_LABEL, ...users.map(userLabel)];
}

function labelled(words: readonly string[]): Labelling {
  const labels = new Set(words);
  return { labels, key: [...labels].sort().join(',') };
}

/** Jobs in a shared directory need this label: they run only where the directory is. */
export function sharedLabel(path: string): string {
  return `${SHARED_PREFIX}${path}`;
}

/** Whether the scheduler may put anything new on it. */
export function mayGetWork(node: Node): boolean {
  const { connected, drain, fault, pausing, clones } = node;
  if (clones.length > 0) return false;
  return connected && drain === null && fault === null && pausing.now === null;
}

/** The node as the scheduler sees it, whether or not it may get work. */
export function viewOf(node: Node): NodeView {
  const { labels, key } = labellingOf(node);
  const own = sizesOf(node);
  const labelsKey = own.sizes === undefined ? key : `${key}|${JSON.stringify(own.sizes)}`;
  return {
    name: node.name,
    order: node.order,
    total: totalOf(node),
    free: roomOf(node),
    gpusFree: node.total.gpuCount === 0 ? [] : [...node.gpusFree],
    labels,
    labelsKey,
    ...own,
    idle: node.holding.size === 0,
    running: { [Symbol.iterator]: () => runningOn(node) },
  };
}

/** Read only when a cycle plans ahead: nothing is copied for those that do not. */
function* runningOn(node: Node): Generator<Running> {
  const { holding, connected, facts } = node;
  const followed = followedOn(node);
  const isAtSite = facts?.site !== undefined;
  for (const one of holding.values()) {
    const { task } = one;
    if (one.next !== null) continue;
    const resources = occupiedBy(node, one);
    const running = new OnNode(task, resources, isAtSite);
    if (task !== null && followed?.has(task.job)) running.followed = true;
    // About to be stopped: its cpus leave, the rest stays. When it stops, an absent node does not
    // say.
    const { cpuCount } = resources;
    if (task !== null && !running.leaving && cpuCount > 0 && connected && isToStop(task)) {
      running.resources = { ...resources, cpuCount: 0 };
      yield running;
      yield { ...running, resources: { ...NO_RESOURCES, cpuCount }, leaving: true };
    } else yield running;
  }
}

function isToStop({ stops }: Task): boolean {
  return stops.has('scheduler');
}

/** Hundreds of these are made in a cycle, and nearly none is asked who it is. */
class OnNode implements Running {
  readonly jobId: JobId;
  readonly index: number;
  resources: Resources;
  readonly startedAt: number | null;
  readonly walltimeMs: number | null;
  readonly reservation: string | null;
  readonly leaving: boolean;
  followed?: true;
  readonly #task: Task | null;
  readonly #isAtSite: boolean;

  constructor(task: Task | null, resources: Resources, isAtSite: boolean) {
    this.jobId = task === null ? STALE_JOB : task.job.id;
    this.index = task === null ? 0 : task.index;
    this.resources = resources;
    this.startedAt = task === null ? null : countsFrom(task);
    this.walltimeMs = task === null ? null : limitOf(task);
    this.reservation = task?.job.spec.reservation ?? null;
    this.leaving = task === null || task.ending !== null;
    this.#task = task;
    this.#isAtSite = isAtSite;
  }

  /** A maintenance's program makes room for nobody. */
  get occupant(): Occupant | undefined {
    const task = this.#task;
    if (task === null || task.job.spec.system !== undefined) return undefined;
    return occupantOf(task, this.#isAtSite);
  }
}

/** Jobs whose places there pass to others of their tasks. Null: none does. */
function followedOn({ holding }: Node): ReadonlySet<Job> | null {
  let jobs: Set<Job> | null = null;
  for (const { next, task } of holding.values()) {
    if (next !== null && task !== null) jobs = (jobs ?? new Set()).add(task.job);
  }
  return jobs;
}

function occupantOf({ job, state, stops, parts }: Task, isAtSite: boolean): Occupant {
  const { spec, entry } = job;
  const givesCpus = !spec.request.exclusive && !isAtSite && spec.foreign === undefined;
  return {
    owner: job.owner,
    partition: spec.partition,
    qos: entry.qos,
    nodeCount: parts.size,
    // A whole node that is stopped is of no use to others: its memory is not given up. Nor has a
    // site that would stop it.
    canSuspend: state === 'running' && stops.size === 0 && givesCpus,
    canRequeue: spec.requeue,
  };
}

/** Largest nodes of a site. */
export function sizesOf({ facts }: Pick<Node, 'facts'>): Pick<NodeView, 'sizes'> {
  return facts?.sizes === undefined ? {} : { sizes: facts.sizes };
}
