// What partitions and qualities of service let in: access, state and limits at submission. Running
// limits are the scheduler's: whoever is over those waits.

import { formatDuration } from '../../base/duration.ts';
import { didYouMean } from '../../base/nearest-word.ts';
import { plural } from '../../base/plural.ts';
import { isSame } from '../../base/same.ts';
import { formatSize } from '../../base/size.ts';
import type { UserActor } from '../../model/actor.ts';
import { type Caps, capUnit, kindsIn, typeOfKind } from '../../model/caps.ts';
import { isOfType } from '../../model/cards-for.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import type { UserName } from '../../model/ids.ts';
import type { JobSpec, ResourceRequest } from '../../model/job.ts';
import { largest } from '../../model/node-sizes.ts';
import { describeRequest, describeResources } from '../../model/request-words.ts';
import { countedKey } from '../../model/resources.ts';
import {
  DEFAULT_QOS,
  isMember,
  type Partition,
  partitionOf,
  type Qos,
  qosOf,
  type Scheduling,
} from '../../model/scheduling.ts';
import { couldHold, withoutCommon } from '../../scheduler/answers/explain.ts';
import { withSize } from '../../scheduler/answers/nearest.ts';
import { amountOf, sizeOf } from '../../scheduler/line/quota.ts';
import { capsOf, groupCapsFor } from '../caps.ts';
import { waitingKey } from '../indexes.ts';
import type { State } from '../state.ts';

/** What the controller knows of a node, for judging what it could ever hold. */
export type Outline = Parameters<typeof couldHold>[0];

export function unknownPartition({ partitions }: Scheduling, partition: string) {
  const hint = didYouMean(partition, Object.keys(partitions)).trim();
  return refuse('partition.unknown', { partition }, hint || undefined) as Refusal & {
    readonly code: 'partition.unknown';
    readonly details: { readonly partition: string };
  };
}

/** `normal` is always there; the others are named in the config. */
export function unknownQos({ qualities }: Scheduling, qos: string): Refusal | null {
  if (qos === DEFAULT_QOS || Object.hasOwn(qualities, qos)) return null;
  const hint = didYouMean(qos, [DEFAULT_QOS, ...Object.keys(qualities)]).trim();
  return refuse('qos.unknown', { qos }, hint || undefined);
}

/** The first thing that keeps this user's job out; null when nothing does. */
export function refusedBy(
  state: State,
  scheduling: Scheduling,
  spec: JobSpec,
  actor: UserActor,
): Refusal | null {
  const partition = partitionOf(scheduling, spec.partition);
  if (partition === null) return unknownPartition(scheduling, spec.partition);
  const qos = qosOf(scheduling, spec.qos ?? DEFAULT_QOS);
  const groups = groupsOf(state, actor);
  return (
    deniedTo(partition, qos, { name: actor.name, groups }) ??
    closed(partition) ??
    beyondLimits(partition, spec) ??
    beyondCluster(scheduling, spec.request) ??
    beyondCaps(capsOf(state, scheduling, actor.name), spec.request, actor.name) ??
    beyondGroups(state, scheduling, spec.request, actor.name) ??
    beyondQos(qos, spec.request, actor.name) ??
    tooManyWaiting(state, qos, actor.name)
  );
}

/** A job that waits, as it is and as it is to be. */
export interface Move {
  readonly before: JobSpec;
  readonly after: JobSpec;
  /** Null: whoever moves it need not be let in. */
  readonly owner: UserActor | null;
}

/** The same for a job that is there already: what it does not leave does not keep it out. */
export function refusedMove(
  state: State,
  scheduling: Scheduling,
  { before, after, owner }: Move,
): Refusal | null {
  const partition = partitionOf(scheduling, after.partition);
  if (partition === null) return unknownPartition(scheduling, after.partition);
  const qos = qosOf(scheduling, after.qos ?? DEFAULT_QOS);
  const isElsewhere = before.partition !== after.partition;
  const isOther = before.qos !== after.qos;
  const person = owner === null ? null : { name: owner.name, groups: groupsOf(state, owner) };
  return (
    (person !== null && (isElsewhere || isOther) ? deniedTo(partition, qos, person) : null) ??
    (isElsewhere ? closed(partition) : null) ??
    beyondLimits(partition, after) ??
    (isSameOfCluster(after.request, before.request)
      ? null
      : beyondCluster(scheduling, after.request)) ??
    (person !== null && isLarger(after.request, before.request)
      ? (beyondCaps(capsOf(state, scheduling, person.name), after.request, person.name) ??
        beyondGroups(state, scheduling, after.request, person.name))
      : null) ??
    (person !== null && (isOther || isLarger(after.request, before.request))
      ? beyondQos(qos, after.request, person.name)
      : null) ??
    (person !== null && isOther ? tooManyWaiting(state, qos, person.name) : null)
  );
}

interface Person {
  readonly name: UserName;
  readonly groups: ReadonlySet<string>;
}

/** Groups of the account on the head's machine, and those that an admin gave. */
export function groupsOf(state: State, { name, groups = [] }: UserActor): ReadonlySet<string> {
  return new Set([...groups, ...(state.users.get(name)?.groups ?? [])]);
}

function deniedTo(partition: Partition, qos: Qos, user: Person): Refusal | null {
  if (!isAllowed(partition, user)) {
    const allowed = describeAccess(partition);
    return refuse('partition.access_denied', {
      partition: partition.name,
      allowed,
      user: user.name,
    });
  }
  if (isAllowed(qos, user)) return null;
  const allowed = describeAccess(qos);
  return refuse('qos.access_denied', { qos: qos.name, allowed, user: user.name });
}

type Access = Pick<Partition, 'users' | 'groups'>;

function isAllowed({ users, groups }: Access, user: Person): boolean {
  if (users === null && groups === null) return true;
  if (users?.some((name) => name === user.name)) return true;
  return groups?.some((group) => user.groups.has(group)) ?? false;
}

/** `users ann, bob and groups chem`. */
export function describeAccess({ users, groups }: Access): string {
  if (users === null && groups === null) return 'everybody';
  const parts = [];
  if (users !== null && users.length > 0) parts.push(`users ${users.join(', ')}`);
  if (groups !== null && groups.length > 0) parts.push(`groups ${groups.join(', ')}`);
  return parts.length === 0 ? 'nobody' : parts.join(' and ');
}

function closed({ name, state }: Partition): Refusal | null {
  if (state === 'up' || state === 'down') return null;
  const words = state === 'drain' ? 'being drained' : 'inactive';
  return refuse('partition.closed', { partition: name, state: words });
}

function beyondLimits({ name: partition, limits }: Partition, spec: JobSpec): Refusal | null {
  const { walltimeMs, nodesPerTask, memoryPerNodeBytes } = limits;
  const { nodeCount, perNode } = spec.request;
  if (walltimeMs !== null && (spec.walltimeMs ?? Infinity) > walltimeMs) {
    const walltime = spec.walltimeMs === null ? 'no limit' : formatDuration(spec.walltimeMs);
    const limit = formatDuration(walltimeMs);
    return refuse('partition.walltime_exceeded', { partition, limit, walltime });
  }
  if (nodesPerTask !== null && nodeCount > nodesPerTask) {
    const details = { partition, limit: plural(nodesPerTask, 'node'), nodes: String(nodeCount) };
    return refuse('partition.nodes_exceeded', details);
  }
  if (memoryPerNodeBytes !== null && perNode.memoryBytes > memoryPerNodeBytes) {
    const limit = formatSize(memoryPerNodeBytes);
    const memory = formatSize(perNode.memoryBytes);
    return refuse('partition.memory_exceeded', { partition, limit, memory });
  }
  return null;
}

/** More than the whole cluster has. */
function beyondCluster({ resources = {} }: Scheduling, request: ResourceRequest): Refusal | null {
  for (const [resource, asked] of Object.entries(request.ofCluster ?? {})) {
    const total = Object.hasOwn(resources, resource) ? (resources[resource] as number) : 0;
    if (asked <= total) continue;
    const details = { resource, asked: String(asked), total: String(total) };
    return refuse('resources.beyond_cluster', details);
  }
  return null;
}

function isSameOfCluster(after: ResourceRequest, before: ResourceRequest): boolean {
  return countedKey(after.ofCluster ?? {}) === countedKey(before.ofCluster ?? {});
}

/** A task that no number of ends of others would let start. */
function beyondCaps(
  caps: Caps,
  request: ResourceRequest,
  user: string,
  where = '',
): Refusal | null {
  const size = sizeOf(request);
  for (const kind of kindsIn(caps)) {
    const max = caps[kind];
    const asked = amountOf(size, kind);
    if (kind === 'running' || max === undefined || asked <= max) continue;
    const type = typeOfKind(kind);
    const isNamed = type === null || size.types?.every((one) => isOfType(one, type)) === true;
    const hint = `It may be given gpus of the type ${type}: name others with --gpu-type.`;
    const details = { user, asked: plural(asked, capUnit(kind)), cap: `${max}${where}` };
    return refuse('user.cap_exceeded', details, isNamed ? undefined : hint);
  }
  return null;
}

/** The same of what all of a group may hold. */
function beyondGroups(
  state: State,
  scheduling: Scheduling,
  request: ResourceRequest,
  user: UserName,
): Refusal | null {
  for (const { group, caps } of groupCapsFor(state, scheduling, user)) {
    const beyond = beyondCaps(caps, request, user, ` together with all of group ${group}`);
    if (beyond !== null) return beyond;
  }
  return null;
}

/** The same of the gpus that a QoS lets one user hold. */
function beyondQos({ name, gpusPerUser = {} }: Qos, request: ResourceRequest, user: string) {
  return beyondCaps(gpusPerUser, request, user, ` under QoS ${name}`);
}

function isLarger(after: ResourceRequest, before: ResourceRequest): boolean {
  const [now, then] = [sizeOf(after), sizeOf(before)];
  const isOther = !isSame(now.types ?? null, then.types ?? null);
  return now.cpus > then.cpus || now.gpus > then.gpus || isOther;
}

function tooManyWaiting(state: State, qos: Qos, user: string): Refusal | null {
  const limit = qos.waitingJobsPerUser;
  const count = state.indexes.waiting.get(waitingKey(user, qos.name)) ?? 0;
  if (limit === null || count < limit) return null;
  const details = { user, qos: qos.name, jobs: plural(count, 'job'), limit: String(limit) };
  return refuse('quota.exceeded', details);
}

/**
 * Whether as many empty nodes as asked for could hold a part. Looks no further than it must: each
 * submission asks, mostly the first node is enough.
 */
export function couldEverRun(
  request: ResourceRequest,
  nodes: Iterable<Outline>,
  isMeant: (node: Outline) => boolean = () => true,
): boolean {
  let missing = request.nodeCount;
  for (const node of nodes) {
    if (isMeant(node) && couldHold(node, request)) missing -= 1;
    if (missing <= 0) return true;
  }
  return false;
}

/** Refuses what the partition's nodes, empty, could not hold; null when they could. */
export function tooBigFor(
  partition: Partition,
  request: ResourceRequest,
  nodes: Iterable<Outline>,
): Refusal | null {
  if (couldEverRun(request, nodes, (node) => isMember(partition, node))) return null;
  const members = [...nodes].filter((node) => isMember(partition, node));
  const able = members.filter((node) => couldHold(node, request)).length;
  const count = able > 0 ? `; only ${able} of its ${members.length} nodes could hold one part` : '';
  const biggest = `${describeBiggest(members)}${count}`;
  const details = {
    partition: partition.name,
    request: describeRequest(withoutCommon(request, members)),
    biggest,
  };
  return refuse('partition.unsatisfiable', details);
}

function describeBiggest(nodes: readonly Outline[]): string {
  const single = nodes.map(({ name, total, sizes }) => {
    const size = largest(sizes);
    return { name, isSite: size !== undefined, total: size ? withSize(total, size) : total };
  });
  const [biggest] = single.toSorted(
    ({ total: a }, { total: b }) => b.cpuCount - a.cpuCount || b.memoryBytes - a.memoryBytes,
  );
  if (biggest === undefined) return 'It has no nodes';
  const { name, isSite, total } = biggest;
  const has = describeResources(total);
  return isSite
    ? `The largest node of its site ${name} has ${has}`
    : `Its largest node is ${name} with ${has}`;
}
