// What the site of one run tells the scheduler: partitions, qualities of service and weights drawn
// from the seed, and what its config file may say instead for a while.

import type { Caps } from '../src/kernel/model/caps.ts';
import type { NodeName, UserName } from '../src/kernel/model/ids.ts';
import {
  DEFAULT_PARTITION,
  DEFAULT_WEIGHTS,
  NODE_PLACEMENTS,
  type Partition,
  PLANNING_POLICIES,
  type Policy,
  plainPartition,
  plainQos,
  plainScheduling,
  type Qos,
  type Scheduling,
  type Weights,
} from '../src/kernel/model/scheduling.ts';
import type { Dice, Streams } from './chance.ts';
import type { Weather } from './weather.ts';

const GIB = 1024 ** 3;
/** What the cluster counts as a whole. */
export const LICENCE = 'solver';

/** Caps of a site, of which each run draws one set: they hold for each user. */
const USER_CAPS: readonly Caps[] = [{}, {}, { gpus: 2 }, { 'gpus:a100': 2 }, { running: 4 }];

/** Every job that is accepted by one of the configs can end under `base`. */
export interface Site {
  /** In force at the start and after everything has been healed. */
  readonly base: Scheduling;
  /** What a reload may bring: most of the same partitions, otherwise ruled. */
  readonly others: readonly Scheduling[];
}

/** One partition of all nodes, and no rules. */
export function plainSite(policy: Policy): Site {
  return { base: plainScheduling(policy), others: [] };
}

/** Each rule comes from a stream of its own. */
export function drawSite(
  streams: Streams,
  { policy, links }: Pick<Weather, 'policy' | 'links'>,
  nodes: readonly NodeName[],
): Site {
  const names = [DEFAULT_PARTITION, 'p2', 'p3'].slice(0, streams.of('partitions').whole(1, 3));
  const partitions = names.map((name) => drawPartition(streams.under(name), name, nodes));
  const qualities = [
    plainQos('normal'),
    drawQos(streams.under('high'), 'high', { tier: 1, links }),
    drawQos(streams.under('low'), 'low', { tier: -1, links }),
  ];
  const base: Scheduling = {
    ...plainScheduling(policy),
    partitions: byName(partitions.map((one, at) => (at === 0 ? { ...one, policy } : one))),
    qualities: byName(qualities),
    weights: drawWeights(streams.of('weights')),
    depthMax: streams.of('depth').pick([1, 3, 100]),
    resources: { [LICENCE]: streams.of('cluster licences').pick([1, 2, 3]) },
    ...(links === null ? {} : { caps: streams.of('user caps').pick(USER_CAPS) }),
  };
  const others = [1, 2].map((at) => vary(streams.under(`other ${at}`), base));
  return { base, others };
}

function drawPartition(streams: Streams, name: string, nodes: readonly NodeName[]): Partition {
  const of = (rule: string): Dice => streams.of(rule);
  const isAll = name === DEFAULT_PARTITION || of('all').happens(0.5);
  return {
    ...plainPartition(name),
    ...drawRules(streams),
    nodes: isAll ? null : nodes.filter((_, at) => at === 0 || of('nodes').happens(0.6)),
    limits: {
      walltimeMs: of('walltime').pick([null, null, 20_000]),
      walltimeDefaultMs: of('default').pick([null, null, 10_000]),
      nodesPerTask: of('width').pick([null, null, 2]),
      tasksPerUser: of('tasks').pick([null, null, 1, 3]),
      memoryPerNodeBytes: of('memory').pick([null, null, null, GIB]),
    },
    users: of('users').happens(0.1) ? (['alice'] as UserName[]) : null,
  };
}

/** What of a partition may be changed without making a waiting job impossible. */
function drawRules(streams: Streams) {
  return {
    policy: streams.of('policy').pick([...PLANNING_POLICIES]),
    placement: streams.of('placement').pick([...NODE_PLACEMENTS]),
    tier: streams.of('tier').pick([0, 0, 1, 2]),
    preempt: streams.of('preempt').pick(['off', 'off', 'suspend', 'requeue', 'cancel'] as const),
    priority: streams.of('priority').fraction(),
  };
}

function drawQos(
  streams: Streams,
  name: string,
  { tier, links }: { readonly tier: number } & Pick<Weather, 'links'>,
): Qos {
  return {
    ...plainQos(name),
    priority: streams.of('priority').fraction(),
    tier: streams.of('tier').pick([0, tier]),
    preempt: streams.of('preempt').pick(['off', 'off', 'suspend', 'requeue', 'cancel'] as const),
    runningTasksPerUser: streams.of('tasks').pick([null, 1, 2, 5]),
    runningCpusPerUser: streams.of('cpus').pick([null, null, 12, 24]),
    ...(links === null ? {} : drawGpuLimits(streams)),
    waitingJobsPerUser: streams.of('waiting').pick([null, null, 5]),
  };
}

/** Limits of gpus, of some. */
function drawGpuLimits(streams: Streams): Pick<Qos, 'gpusPerUser'> {
  if (!streams.of('gpus').happens(0.7)) return {};
  return { gpusPerUser: streams.of('gpu limits').pick([{ gpus: 1 }, { 'gpus:a100': 1 }]) };
}

function drawWeights(dice: Dice): Weights {
  if (dice.happens(0.5)) return DEFAULT_WEIGHTS;
  return { ...DEFAULT_WEIGHTS, size: dice.pick([0, 500]), fairShare: dice.pick([0, 5000]) };
}

function vary(streams: Streams, base: Scheduling): Scheduling {
  const kept = Object.values(base.partitions).filter(
    ({ name }) => name === DEFAULT_PARTITION || streams.under(name).of('kept').happens(0.8),
  );
  const partitions = kept.map((one) => {
    const own = streams.under(one.name);
    const state = own.of('state').pick(['up', 'up', 'down', 'drain', 'inactive'] as const);
    const limits = { ...one.limits, tasksPerUser: own.of('tasks').pick([null, 1, 2]) };
    return { ...one, ...drawRules(own), state, limits };
  });
  const qualities = Object.values(base.qualities).map((one) => {
    const tasks = streams.under(one.name).of('tasks');
    return one.name === 'normal' ? one : { ...one, runningTasksPerUser: tasks.pick([null, 1, 3]) };
  });
  return {
    ...base,
    partitions: byName(partitions),
    qualities: byName(qualities),
    // Fewer at most: what is accepted can end under `base`.
    resources: {
      [LICENCE]: streams.of('cluster licences').pick([1, base.resources?.[LICENCE] ?? 1]),
    },
    weights: drawWeights(streams.of('weights')),
    fairShare: {
      ...base.fairShare,
      halfLifeMs: streams.of('half life').pick([base.fairShare.halfLifeMs, 60_000, 1000]),
      weights: streams
        .of('billing')
        .pick([base.fairShare.weights, { cpu: 1, memory: 0.5, gpu: 3 }]),
    },
  };
}

function byName<T extends { readonly name: string }>(list: readonly T[]): Record<string, T> {
  return Object.fromEntries(list.map((one) => [one.name, one]));
}
