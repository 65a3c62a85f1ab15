// Why a task that may start does not, as values: what blocks it, by name.

import type { NodeName } from '../../model/ids.ts';
import type { ResourceRequest } from '../../model/job.ts';
import { meetsLabel } from '../../model/labels.ts';
import { featureOf } from '../../model/node-features.ts';
import { fitsOneOf, largest } from '../../model/node-sizes.ts';
import type { Absence, ClusterLack, NodeReasons, Reason } from '../../model/reason.ts';
import { fitsIn } from '../../model/resources.ts';
import {
  DEFAULT_PARTITION,
  isMember,
  type Partition,
  partitionOf,
  qosOf,
} from '../../model/scheduling.ts';
import type { Snapshot } from '../cycle/snapshot.ts';
import type { QueueEntry } from '../line/queue.ts';
import { sizeOf } from '../line/quota.ts';
import { askOf } from '../room/ask.ts';
import { Board } from '../room/board.ts';
import { type ClusterStock, NO_STOCK } from '../room/cluster-room.ts';
import type { Window } from '../room/lane.ts';
import { windowReason } from './explain-windows.ts';
import type { NodeOutline, Surroundings } from './outline.ts';
import { shortageOf } from './shortage.ts';

export function explain(
  entry: QueueEntry,
  { nodes, reservationOf }: Surroundings,
  snapshot: Snapshot,
  at: number,
): Reason {
  const { runningMax: max, running } = entry;
  if (max !== null && running >= max) {
    return { kind: 'quota', limit: { of: 'array', max, running } };
  }
  const { request: asked, partition: name } = entry.shape;
  const partition = partitionOf(snapshot.scheduling, name);
  // A config without it was read while the job waited.
  if (partition === null) return { kind: 'partition', partition: name, problem: 'gone' };
  const members = nodes.filter((node) => isMember(partition, node));
  const closed = closedReason(partition, members.length);
  if (closed !== null) return closed;
  const request = withoutCommon(asked, members);
  const able = members.filter((node) => couldHold(node, asked));
  if (able.length < asked.nodeCount) {
    const outdated = outdatedOf(members, asked);
    const site = spreadSite(members, asked);
    const tooLarge = { request, partition: name, able: able.length, outdated };
    return { kind: 'no_node_can', ...tooLarge, ...(site === undefined ? {} : { site }) };
  }
  const hosts = hostsOf(able, entry.shape, snapshot.windows, at);
  const absent = absentOf(hosts);
  if (absent.length > 0 && hosts.length - absent.length < asked.nodeCount) {
    const away = { count: hosts.length, nodes: absent };
    return { kind: 'resources', request, nodes: away, room: null };
  }
  const quota = overQuota(entry, partition, snapshot);
  if (quota !== null) return quota;
  const lack = clusterLackOf(asked, snapshot.stock);
  if (lack !== null) return { kind: 'cluster_resource', lack };
  const board = new Board({ ...snapshot, now: at });
  const ask = askOf(entry.shape, partition);
  const fitting = board.fitting(ask, asked.nodeCount);
  if (fitting.length >= asked.nodeCount) return roomReason(partition);
  const reserved = windowReason(ask, { ...snapshot, now: at }, reservationOf, board);
  if (reserved !== null) return reserved;
  const usable = hosts.filter((node) => node.unavailable === null);
  const short = shortageOf(usable, ask, { board, fitting, reservationOf });
  // Those are seen to be idle; of others their own state says why they get no work.
  const external = absentOf(hosts.filter(({ unavailable }) => unavailable?.why === 'external'));
  const count = short.nodes.count + external.length;
  const told = { count, nodes: [...short.nodes.nodes, ...external] };
  return { kind: 'resources', request, ...short, nodes: told };
}

/** There is room: it is for whoever decides the order of starts. */
function roomReason({ name, policy }: Partition): Reason {
  if (policy !== 'external') return { kind: 'priority', behind: null };
  return { kind: 'partition', partition: name, problem: 'external' };
}

function absentOf(nodes: readonly NodeOutline[]): NodeReasons['nodes'] {
  return nodes.flatMap(({ name, unavailable }) => {
    return unavailable === null ? [] : [{ name, situation: { kind: 'absent', ...unavailable } }];
  });
}

/** A site that has what a part asks for, spread over its nodes. */
function spreadSite(
  nodes: readonly NodeOutline[],
  request: ResourceRequest,
): Extract<Reason, { kind: 'no_node_can' }>['site'] {
  for (const { sizes, ...node } of nodes) {
    const size = largest(sizes);
    if (size !== undefined && couldHold(node, request)) return { name: node.name, largest: size };
  }
  return undefined;
}

/** Nodes that could hold a part with a newer agent, where those would be enough. */
function outdatedOf(nodes: readonly NodeOutline[], request: ResourceRequest): NodeReasons | null {
  const bare = { ...request, labels: request.labels.filter((one) => featureOf(one) === null) };
  const able = nodes.filter((node) => couldHold(node, bare));
  if (able.length < request.nodeCount) return null;
  const outdated = able.filter((node) => !couldHold(node, request));
  return {
    count: able.length,
    nodes: outdated.map(({ name, labels }) => {
      const lacking = request.labels.filter((label) => !meetsLabel(labels, label));
      const features = lacking.map(featureOf).filter((feature) => feature !== null);
      return { name, situation: { kind: 'outdated', features } };
    }),
  };
}

/** What has to come back before a task can start at all. */
export interface Awaited {
  /** How many of them are enough. */
  readonly count: number;
  readonly nodes: readonly { readonly name: string; readonly kind: Absence['why'] }[];
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
    return unavailable === null ? [] : [{ name, kind: unavailable.why }];
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

function closedReason({ name, state, nodes }: Partition, members: number): Reason | null {
  if (state === 'down' || state === 'inactive') {
    return { kind: 'partition', partition: name, problem: state };
  }
  if (members > 0 || (name === DEFAULT_PARTITION && nodes === null)) return null;
  return { kind: 'partition', partition: name, problem: 'empty' };
}

function overQuota(
  { owner, qos, shape }: QueueEntry,
  partition: Partition,
  { quotas, scheduling }: Snapshot,
): Reason | null {
  const limit = quotas?.excess(owner, partition, qosOf(scheduling, qos), sizeOf(shape.request));
  return limit == null ? null : { kind: 'quota', limit };
}

/** Jobs that an explanation names. */
const HOLDERS_TOLD = 5;

/** What there is too little of in the whole cluster now; null: enough of each. */
function clusterLackOf(
  { ofCluster = {} }: ResourceRequest,
  { total, used }: ClusterStock = NO_STOCK,
): ClusterLack | null {
  for (const [name, asked] of Object.entries(ofCluster)) {
    const uses = [...used()].filter(({ amounts }) => Object.hasOwn(amounts, name));
    const sum = uses.reduce((sum, { amounts }) => sum + (amounts[name] as number), 0);
    const all = Object.hasOwn(total, name) ? (total[name] as number) : 0;
    const holders = [...new Set(uses.map(({ jobId }) => jobId))].slice(0, HOLDERS_TOLD);
    if (asked > all - sum) return { name, asked, total: all, used: sum, holders };
  }
  return null;
}

/** Whether an empty node of this size and these labels could take a part. */
export function couldHold(
  node: Pick<NodeOutline, 'name' | 'total' | 'labels' | 'sizes'>,
  request: Pick<ResourceRequest, 'nodeNames' | 'labels' | 'perNode'>,
): boolean {
  const { nodeNames } = request;
  if (nodeNames.length > 0 && !nodeNames.some((name) => name === node.name)) return false;
  if (!request.labels.every((label) => meetsLabel(node.labels, label))) return false;
  return fitsIn(request.perNode, node.total) && fitsOneOf(node.sizes, request.perNode);
}
