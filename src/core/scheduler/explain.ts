// Why a task that may start does not: the words name what blocks it.

import { formatSize } from '../base/size.ts';
import type { NodeName } from '../model/ids.ts';
import type { PendingReason, ResourceRequest } from '../model/job.ts';
import { meetsLabel } from '../model/labels.ts';
import { fitsIn, type Resources } from '../model/resources.ts';
import {
  DEFAULT_PARTITION,
  isMember,
  type Partition,
  partitionOf,
  qosOf,
} from '../model/scheduling.ts';
import { askOf } from './ask.ts';
import { Board } from './board.ts';
import { describeWindows } from './explain-windows.ts';
import type { Window } from './lane.ts';
import type { NodeOutline, Surroundings } from './outline.ts';
import type { QueueEntry } from './queue.ts';
import { cpusOf } from './quota.ts';
import { describeShortage } from './shortage.ts';
import type { Snapshot } from './snapshot.ts';

export function explain(
  entry: QueueEntry,
  { nodes, reservationOf }: Surroundings,
  snapshot: Snapshot,
  at: number,
): PendingReason {
  const { request } = entry.shape;
  if (entry.runningMax !== null && entry.running >= entry.runningMax) {
    const words = `${entry.running} tasks of this array hold resources, its limit is ${entry.runningMax}`;
    return { kind: 'quota', words };
  }
  const partition = partitionOf(snapshot.scheduling, entry.shape.partition);
  if (partition === null) return goneFrom(entry.shape.partition);
  const members = nodes.filter((node) => isMember(partition, node));
  const closed = closedReason(partition, members.length);
  if (closed !== null) return closed;
  const wanted = describeRequest(withoutCommon(request, members));
  const able = members.filter((node) => couldHold(node, request));
  if (able.length < request.nodeCount) {
    const where = partition.name === DEFAULT_PARTITION ? '' : ` of partition ${partition.name}`;
    const words = `${able.length} nodes${where} could ever hold ${wanted}`;
    return { kind: 'no_node_can', words };
  }
  const hosts = hostsOf(able, entry.shape, snapshot.windows, at);
  const away = hosts.filter((node) => node.unavailable !== null);
  if (away.length > 0 && hosts.length - away.length < request.nodeCount) {
    const why = away.map((node) => `${node.name} is ${node.unavailable}`).join('; ');
    return { kind: 'resources', words: `waits for nodes that could hold ${wanted}: ${why}` };
  }
  const quota = overQuota(entry, partition, snapshot);
  if (quota !== null) return quota;
  const board = new Board({ ...snapshot, now: at });
  const ask = askOf(entry.shape, partition);
  const fitting = board.fitting(ask, request.nodeCount);
  if (fitting.length >= request.nodeCount) {
    return { kind: 'priority', words: 'starts after the tasks before it in the queue' };
  }
  const reserved = describeWindows(ask, { ...snapshot, now: at }, reservationOf, board);
  if (reserved !== null) return reserved;
  const usable = hosts.filter((node) => node.unavailable === null);
  const short = describeShortage(usable, ask, { board, fitting, reservationOf });
  return { kind: 'resources', words: `needs ${wanted}; ${short}` };
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
  const words = `the config has no partition ${partition} any more; it waits until there is one`;
  return { kind: 'partition', words };
}

function closedReason({ name, state, nodes }: Partition, members: number): PendingReason | null {
  if (state === 'down' || state === 'inactive') {
    return { kind: 'partition', words: `partition ${name} is ${state}: it starts nothing` };
  }
  if (members > 0 || (name === DEFAULT_PARTITION && nodes === null)) return null;
  return { kind: 'partition', words: `partition ${name} has no nodes any more` };
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
  const nodes = request.nodeCount === 1 ? '1 node' : `${request.nodeCount} nodes`;
  const labels = describeLabels(request.labels);
  const names = request.nodeNames.length > 0 ? ` of ${request.nodeNames.join(', ')}` : '';
  const whole = request.exclusive ? ' and no other tasks' : '';
  return `${nodes}${names}${labels} with ${describeResources(request.perNode)}${whole}`;
}

/** A directory that must be shared stands among the labels; people know it as a directory. */
function describeLabels(labels: readonly string[]): string {
  const own = labels.filter((label) => !label.startsWith('shared='));
  const paths = labels
    .filter((label) => label.startsWith('shared='))
    .map((label) => label.slice(7));
  const labelled = own.length > 0 ? ` labelled ${own.join(', ')}` : '';
  return paths.length > 0 ? `${labelled} sharing ${paths.join(', ')}` : labelled;
}

export function describeResources(resources: Resources): string {
  const parts = [plural(resources.cpuCount, 'cpu'), `${formatSize(resources.memoryBytes)} memory`];
  if (resources.gpuCount > 0) parts.push(plural(resources.gpuCount, 'gpu'));
  for (const name in resources.counted) parts.push(`${resources.counted[name]} ${name}`);
  return parts.join(', ');
}

function plural(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}
