// Why a task that may start does not: the words name what blocks it.

import { plural } from '../../base/plural.ts';
import { formatSize } from '../../base/size.ts';
import type { NodeName } from '../../model/ids.ts';
import type { PendingReason, ResourceRequest } from '../../model/job.ts';
import { meetsLabel } from '../../model/labels.ts';
import { FEATURE_WORDS, featureOf, withoutFeatures } from '../../model/node-features.ts';
import { fitsIn, type Resources } from '../../model/resources.ts';
import {
  DEFAULT_PARTITION,
  isMember,
  type Partition,
  partitionOf,
  qosOf,
} from '../../model/scheduling.ts';
import type { Snapshot } from '../cycle/snapshot.ts';
import type { QueueEntry } from '../line/queue.ts';
import { cpusOf } from '../line/quota.ts';
import { askOf } from '../room/ask.ts';
import { Board } from '../room/board.ts';
import type { Window } from '../room/lane.ts';
import { describeWindows } from './explain-windows.ts';
import type { Absence, NodeOutline, Surroundings } from './outline.ts';
import { grouped, type Said, sayOfNodes } from './say-of-nodes.ts';
import { describeShortage } from './shortage.ts';

export function explain(
  entry: QueueEntry,
  { nodes, reservationOf }: Surroundings,
  snapshot: Snapshot,
  at: number,
): PendingReason {
  const { request } = entry.shape;
  if (entry.runningMax !== null && entry.running >= entry.runningMax) {
    return { kind: 'quota', words: describeThrottle(entry.runningMax, entry.running) };
  }
  const partition = partitionOf(snapshot.scheduling, entry.shape.partition);
  if (partition === null) return goneFrom(entry.shape.partition);
  const members = nodes.filter((node) => isMember(partition, node));
  const closed = closedReason(partition, members.length);
  if (closed !== null) return closed;
  const wanted = describeRequest(withoutCommon(request, members));
  const able = members.filter((node) => couldHold(node, request));
  if (able.length < request.nodeCount) {
    const outdated = describeOutdated(members, request);
    if (outdated !== null) return { kind: 'no_node_can', words: `needs ${wanted}; ${outdated}` };
    const where = partition.name === DEFAULT_PARTITION ? '' : ` of partition ${partition.name}`;
    const few = able.length === 0 ? 'no node' : `only ${plural(able.length, 'node')}`;
    const verb = able.length === 1 ? 'is' : 'are';
    const words = `needs ${wanted}; ${few}${where} ${able.length === 0 ? 'is' : verb} large enough`;
    return { kind: 'no_node_can', words };
  }
  const hosts = hostsOf(able, entry.shape, snapshot.windows, at);
  const away = hosts.filter((node) => node.unavailable !== null);
  if (away.length > 0 && hosts.length - away.length < request.nodeCount) {
    const why = sayOfNodes(grouped(away, sayUnavailable), hosts.length);
    return { kind: 'resources', words: `needs ${wanted}; ${why}` };
  }
  const quota = overQuota(entry, partition, snapshot);
  if (quota !== null) return quota;
  const board = new Board({ ...snapshot, now: at });
  const ask = askOf(entry.shape, partition);
  const fitting = board.fitting(ask, request.nodeCount);
  if (fitting.length >= request.nodeCount) {
    return { kind: 'priority', words: 'other tasks are ahead of it in the queue' };
  }
  const reserved = describeWindows(ask, { ...snapshot, now: at }, reservationOf, board);
  if (reserved !== null) return reserved;
  const usable = hosts.filter((node) => node.unavailable === null);
  const short = describeShortage(usable, ask, { board, fitting, reservationOf });
  return { kind: 'resources', words: `needs ${wanted}; ${short}` };
}

function describeThrottle(max: number, running: number): string {
  const limit = `this array runs at most ${plural(max, 'task')} at once (%${max})`;
  return `${limit}; ${running} ${running === 1 ? 'is' : 'are'} running`;
}

function sayUnavailable({ unavailable }: NodeOutline): Said {
  const words = unavailable?.words ?? 'in use';
  return { one: `is ${words}`, many: `are ${words}` };
}

/** Nodes that could hold a part with a newer agent, where those would be enough. */
function describeOutdated(nodes: readonly NodeOutline[], request: ResourceRequest): string | null {
  const bare = { ...request, labels: withoutFeatures(request.labels) };
  const able = nodes.filter((node) => couldHold(node, bare));
  if (able.length < request.nodeCount) return null;
  const outdated = able.filter((node) => !couldHold(node, request));
  const say = ({ labels }: NodeOutline): Said => {
    const lacks = request.labels.filter((label) => !labels.has(label)).map(featureOf);
    const what = lacks.map((feature) => feature !== null && FEATURE_WORDS[feature]).filter(Boolean);
    const words = `an agent too old for ${what.join(' and ')}`;
    return { one: `runs ${words}`, many: `run ${words}` };
  };
  return `${sayOfNodes(grouped(outdated, say), able.length)}; update it there`;
}

/** What has to come back before a task can start at all. */
export interface Awaited {
  /** So many of them are enough. */
  readonly count: number;
  readonly nodes: readonly { readonly name: string; readonly kind: Absence['kind'] }[];
}

/** Nodes that get no work and could hold a part; null when those that get work are enough. */
export function awaitedBy(
  { shape }: QueueEntry,
  { nodes }: Surroundings,
  { scheduling, windows }: Pick<Snapshot, 'scheduling' | 'windows'>,
  at: number,
): Awaited | null {
  const partition = partitionOf(scheduling, shape.partition);
  if (partition === null) return null;
  const able = nodes.filter((node) => isMember(partition, node) && couldHold(node, shape.request));
  const hosts = hostsOf(able, shape, windows, at);
  const absent = hosts.flatMap(({ name, unavailable }) => {
    return unavailable === null ? [] : [{ name, kind: unavailable.kind }];
  });
  const missing = shape.request.nodeCount - (hosts.length - absent.length);
  return absent.length === 0 ? null : { count: Math.max(1, missing), nodes: absent };
}

/** A task of a reservation that has begun is told of the nodes that this has. */
function hostsOf(
  able: readonly NodeOutline[],
  { reservation }: Pick<QueueEntry['shape'], 'reservation'>,
  windows: readonly Window[],
  at: number,
): readonly NodeOutline[] {
  const own = windows.filter(({ id, from, to }) => id === reservation && from <= at && at < to);
  if (own.length === 0) return able;
  return able.filter(({ name }) => own.some(({ shares }) => shares.has(name as NodeName)));
}

/** Directories that all these nodes share keep it from none: virtual nodes share all there is. */
export function withoutCommon(
  request: ResourceRequest,
  nodes: readonly Pick<NodeOutline, 'labels'>[],
): ResourceRequest {
  const tells = (label: string): boolean =>
    !label.startsWith('shared=') || !nodes.every((node) => meetsLabel(node.labels, label));
  return { ...request, labels: request.labels.filter(tells) };
}

/** A config without it was read while the job waited. */
function goneFrom(partition: string): PendingReason {
  const words = `partition ${partition} is no longer in the config; the job waits until it is back`;
  return { kind: 'partition', words };
}

function closedReason({ name, state, nodes }: Partition, members: number): PendingReason | null {
  if (state === 'down' || state === 'inactive') {
    return { kind: 'partition', words: `partition ${name} is ${state} and starts no jobs` };
  }
  if (members > 0 || (name === DEFAULT_PARTITION && nodes === null)) return null;
  return { kind: 'partition', words: `partition ${name} has no nodes` };
}

function overQuota(
  { owner, qos, shape }: QueueEntry,
  partition: Partition,
  { quotas, scheduling }: Snapshot,
): PendingReason | null {
  const excess = quotas?.excess(owner, partition, qosOf(scheduling, qos), cpusOf(shape.request));
  return excess == null ? null : { kind: 'quota', words: excess };
}

/** Whether an empty node of this size and these labels could take a part. */
export function couldHold(
  node: Pick<NodeOutline, 'name' | 'total' | 'labels'>,
  request: Pick<ResourceRequest, 'nodeNames' | 'labels' | 'perNode'>,
): boolean {
  const { nodeNames } = request;
  if (nodeNames.length > 0 && !nodeNames.some((name) => name === node.name)) return false;
  if (!request.labels.every((label) => meetsLabel(node.labels, label))) return false;
  return fitsIn(request.perNode, node.total);
}

/** A request in words: `2 nodes with 4 cpus and 1G memory`. */
export function describeRequest(request: ResourceRequest): string {
  const nodes = plural(request.nodeCount, 'node');
  const labels = describeLabels(request.labels);
  const names = request.nodeNames.length > 0 ? ` of ${request.nodeNames.join(', ')}` : '';
  const whole = request.exclusive ? ' and no other tasks' : '';
  return `${nodes}${names}${labels} with ${describeResources(request.perNode)}${whole}`;
}

/** A directory that must be shared stands among the labels; people know it as a directory. */
function describeLabels(labels: readonly string[]): string {
  const own = withoutFeatures(labels).filter((label) => !label.startsWith('shared='));
  const paths = labels
    .filter((label) => label.startsWith('shared='))
    .map((label) => label.slice(7));
  const labelled = own.length > 0 ? ` labelled ${own.join(', ')}` : '';
  return paths.length > 0 ? `${labelled} sharing ${paths.join(', ')}` : labelled;
}

export function describeResources(resources: Resources): string {
  const parts = [plural(resources.cpuCount, 'cpu')];
  if (resources.memoryBytes > 0) parts.push(`${formatSize(resources.memoryBytes)} memory`);
  if (resources.gpuCount > 0) parts.push(plural(resources.gpuCount, 'gpu'));
  for (const name in resources.counted) parts.push(`${resources.counted[name]} ${name}`);
  return parts.join(', ');
}
