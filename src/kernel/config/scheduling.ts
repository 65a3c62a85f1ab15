// From the configuration to what the scheduler is told: partitions, qualities of service, weights
// and shares.

import {
  CAP_KINDS,
  type CapKind,
  type Caps,
  NO_CAPS,
  typedKind,
  capsFrom as withCaps,
} from '../model/caps.ts';
import type { UserName } from '../model/ids.ts';
import type { Resources } from '../model/resources.ts';
import {
  DEFAULT_PARTITION,
  type FairShare,
  type FairShareGroup,
  type Partition,
  type Policy,
  plainPartition,
  plainQos,
  type Qos,
  type Scheduling,
  type Weights,
} from '../model/scheduling.ts';
import type { Config } from './config.ts';
import type { Fields } from './table.ts';

/** Everything that the site says about who runs where and when. */
export function schedulingFrom(config: Config): Scheduling {
  const policy = config.text('head.policy') as Policy;
  const partitions = { [DEFAULT_PARTITION]: plainPartition(DEFAULT_PARTITION, policy) };
  return {
    partitions: { ...partitions, ...each(config, 'partitions', partitionFrom, policy) },
    qualities: each(config, 'qos', qosFrom),
    weights: weightsFrom(config),
    depthMax: config.number('scheduler.depth'),
    fairShare: fairShareFrom(config),
    ...capsFrom(config),
    ...memberCapsFrom(config),
    ...groupCapsFrom(config),
    ...pricesFrom(config),
    ...resourcesFrom(config),
  };
}

/** Only where there are any. */
function capsFrom(config: Config): Pick<Scheduling, 'caps'> {
  const caps: { [kind in CapKind]?: number } = {};
  for (const kind of CAP_KINDS) {
    const max = config.optionalNumber(`caps.${kind}`);
    if (max !== null) caps[kind] = max;
  }
  Object.assign(caps, typedCaps(config.texts('caps.gpu_types')));
  return Object.keys(caps).length === 0 ? {} : { caps };
}

/** `h100:2`, as the form of the key lets it in. */
function typedCaps(texts: readonly string[]): Caps {
  const pairs = texts.map((text) => text.split(':'));
  return Object.fromEntries(pairs.map(([type = '', count]) => [typedKind(type), Number(count)]));
}

interface CappedGroup extends FairShareGroup {
  readonly caps: Caps;
  readonly together: Caps;
}

/** Only where there are any. A group within another has that one's caps where it names none. */
function memberCapsFrom(config: Config): Pick<Scheduling, 'memberCaps'> {
  const groups = each(config, 'fair_share.groups', cappedGroupFrom);
  const inner = new Set(Object.values(groups).flatMap((group) => group.groups));
  const memberCaps = new Map<string, Caps>();
  const visit = (name: string, around: Caps): void => {
    const group = groups[name];
    if (group === undefined) return;
    const caps = withCaps(around, group.caps);
    if (Object.keys(caps).length > 0) for (const user of group.users) memberCaps.set(user, caps);
    for (const within of group.groups) visit(within, caps);
  };
  const { caps = NO_CAPS } = capsFrom(config);
  for (const name of Object.keys(groups)) if (!inner.has(name)) visit(name, caps);
  return memberCaps.size === 0 ? {} : { memberCaps: Object.fromEntries(memberCaps) };
}

function cappedGroupFrom(name: string, fields: Fields): CappedGroup {
  return {
    ...groupFrom(name, fields),
    caps: capsIn(fields, 'caps'),
    together: capsIn(fields, 'together'),
  };
}

function capsIn(fields: Fields, section: 'caps' | 'together'): Caps {
  const caps: { [kind in CapKind]?: number } = {};
  for (const kind of CAP_KINDS) {
    const max = fields.get(`${section}.${kind}`);
    if (typeof max === 'number') caps[kind] = max;
  }
  const typed = typedCaps((fields.get(`${section}.gpu_types`) ?? []) as readonly string[]);
  return { ...caps, ...typed };
}

/** Only where there are any. */
function groupCapsFrom(config: Config): Pick<Scheduling, 'groupCaps'> {
  const groups = each(config, 'fair_share.groups', cappedGroupFrom);
  const usersOf = (name: string): readonly string[] => {
    const { users = [], groups: inner = [] } = groups[name] ?? {};
    return [...users, ...inner.flatMap(usersOf)];
  };
  const capped = Object.entries(groups).flatMap(([group, { together: caps }]) => {
    return Object.keys(caps).length === 0 ? [] : [{ group, users: usersOf(group), caps }];
  });
  // The narrower one is named first.
  const groupCaps = capped.sort((a, b) => a.users.length - b.users.length);
  return groupCaps.length === 0 ? {} : { groupCaps };
}

/** Only where there are any. */
function pricesFrom(config: Config): Pick<Scheduling, 'prices'> {
  const prices = each(config, 'sites', (_, fields) => (fields.get('price') as number) ?? 0);
  return Object.keys(prices).length === 0 ? {} : { prices };
}

/** Only where there are any. */
function resourcesFrom(config: Config): Pick<Scheduling, 'resources'> {
  const resources = numbersFrom(config, 'cluster.resources');
  return resources === null ? {} : { resources };
}

/** A table of one number for each name; null: it is empty. */
export function numbersFrom(config: Config, section: string): Resources['counted'] | null {
  const counted = each(config, section, (_, fields) => fields.get('') as number);
  return Object.keys(counted).length === 0 ? null : counted;
}

function each<T, More extends readonly unknown[]>(
  config: Config,
  section: string,
  make: (name: string, fields: Fields, ...more: More) => T,
  ...more: More
): Record<string, T> {
  const entries = [...config.table(section)];
  return Object.fromEntries(entries.map(([name, fields]) => [name, make(name, fields, ...more)]));
}

function partitionFrom(name: string, fields: Fields, policy: Policy): Partition {
  const get = <T>(field: string, otherwise: T): T => (fields.get(field) as T) ?? otherwise;
  const plain = plainPartition(name, policy);
  return {
    name,
    nodes: get('nodes', plain.nodes),
    labels: get('labels', plain.labels),
    state: get('state', plain.state),
    policy: get('policy', policy),
    placement: get('placement', plain.placement),
    tier: get('tier', plain.tier),
    preempt: get('preempt', plain.preempt),
    priority: get('priority', plain.priority),
    limits: {
      walltimeMs: get('limits.time', null),
      walltimeDefaultMs: get('limits.default_time', null),
      nodesPerTask: get('limits.nodes', null),
      tasksPerUser: get('limits.tasks_per_user', null),
      memoryPerNodeBytes: get('limits.memory', null),
    },
    users: get('users', null),
    groups: get('groups', null),
  };
}

function qosFrom(name: string, fields: Fields): Qos {
  const get = <T>(field: string, otherwise: T): T => (fields.get(field) as T) ?? otherwise;
  const plain = plainQos(name);
  return {
    name,
    priority: get('priority', plain.priority),
    tier: get('tier', plain.tier),
    preempt: get('preempt', plain.preempt),
    runningTasksPerUser: get('running_tasks', null),
    runningCpusPerUser: get('running_cpus', null),
    waitingJobsPerUser: get('waiting_jobs', null),
    ...gpusPerUserFrom(fields),
    users: get('users', null),
    groups: get('groups', null),
  };
}

/** Only where there are any. */
function gpusPerUserFrom(fields: Fields): Pick<Qos, 'gpusPerUser'> {
  const gpus = fields.get('running_gpus') ?? null;
  const all = gpus === null ? NO_CAPS : { gpus: gpus as number };
  const typed = typedCaps((fields.get('running_gpu_types') ?? []) as readonly string[]);
  const gpusPerUser = { ...all, ...typed };
  return Object.keys(gpusPerUser).length === 0 ? {} : { gpusPerUser };
}

function weightsFrom(config: Config): Weights {
  return {
    age: config.number('priority.age'),
    size: config.number('priority.size'),
    fairShare: config.number('priority.fair_share'),
    partition: config.number('priority.partition'),
    qos: config.number('priority.qos'),
    nice: config.number('priority.nice'),
  };
}

function fairShareFrom(config: Config): FairShare {
  const gpus = numbersFrom(config, 'fair_share.gpu_weights');
  return {
    halfLifeMs: config.number('fair_share.half_life'),
    weights: {
      cpu: config.number('fair_share.cpu_weight'),
      memory: config.number('fair_share.memory_weight'),
      gpu: config.number('fair_share.gpu_weight'),
      ...(gpus === null ? {} : { gpus }),
    },
    users: each(config, 'fair_share.users', (_, fields) => fields.get('') as number),
    groups: each(config, 'fair_share.groups', groupFrom),
  };
}

function groupFrom(_: string, fields: Fields): FairShareGroup {
  return {
    share: (fields.get('share') as number | undefined) ?? 1,
    users: (fields.get('users') ?? []) as readonly UserName[],
    groups: (fields.get('groups') ?? []) as readonly string[],
  };
}
