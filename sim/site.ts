// What the site of one run tells the scheduler: partitions, qualities of service and weights drawn
// from the seed, and what its config file may say instead for a while.

import type { NodeName, UserName } from '../src/core/model/ids.ts';
import {
  DEFAULT_PARTITION,
  DEFAULT_WEIGHTS,
  type Partition,
  PLACEMENTS,
  POLICIES,
  type Policy,
  plainPartition,
  plainQos,
  plainScheduling,
  type Qos,
  type Scheduling,
  type Weights,
} from '../src/core/model/scheduling.ts';
import type { Dice } from './chance.ts';

const GIB = 1024 ** 3;

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

export function drawSite(dice: Dice, policy: Policy, nodes: readonly NodeName[]): Site {
  const names = [DEFAULT_PARTITION, 'p2', 'p3'].slice(0, dice.whole(1, 3));
  const partitions = names.map((name) => drawPartition(dice, name, nodes));
  const qualities = [plainQos('normal'), drawQos(dice, 'high', 1), drawQos(dice, 'low', -1)];
  const base: Scheduling = {
    ...plainScheduling(policy),
    partitions: byName(partitions.map((one, at) => (at === 0 ? { ...one, policy } : one))),
    qualities: byName(qualities),
    weights: drawWeights(dice),
    depthMax: dice.pick([1, 3, 100]),
  };
  const others = [1, 2].map(() => vary(dice, base));
  return { base, others };
}

function drawPartition(dice: Dice, name: string, nodes: readonly NodeName[]): Partition {
  const isAll = name === DEFAULT_PARTITION || dice.happens(0.5);
  return {
    ...plainPartition(name),
    ...drawRules(dice),
    nodes: isAll ? null : nodes.filter((_, at) => at === 0 || dice.happens(0.6)),
    limits: {
      walltimeMs: dice.pick([null, null, 20_000]),
      walltimeDefaultMs: dice.pick([null, null, 10_000]),
      nodesPerTask: dice.pick([null, null, 2]),
      tasksPerUser: dice.pick([null, null, 1, 3]),
      memoryPerNodeBytes: dice.pick([null, null, null, GIB]),
    },
    users: dice.happens(0.1) ? (['alice'] as UserName[]) : null,
  };
}

/** What of a partition may be changed without making a waiting job impossible. */
function drawRules(dice: Dice) {
  return {
    policy: dice.pick([...POLICIES]),
    placement: dice.pick([...PLACEMENTS]),
    tier: dice.pick([0, 0, 1, 2]),
    preempt: dice.pick(['off', 'off', 'suspend', 'requeue', 'cancel'] as const),
    priority: dice.fraction(),
  };
}

function drawQos(dice: Dice, name: string, tier: number): Qos {
  return {
    ...plainQos(name),
    priority: dice.fraction(),
    tier: dice.pick([0, tier]),
    preempt: dice.pick(['off', 'off', 'suspend', 'requeue', 'cancel'] as const),
    runningTasksPerUser: dice.pick([null, 1, 2, 5]),
    runningCpusPerUser: dice.pick([null, null, 12, 24]),
    waitingJobsPerUser: dice.pick([null, null, 5]),
  };
}

function drawWeights(dice: Dice): Weights {
  if (dice.happens(0.5)) return DEFAULT_WEIGHTS;
  return { ...DEFAULT_WEIGHTS, size: dice.pick([0, 500]), fairShare: dice.pick([0, 5000]) };
}

function vary(dice: Dice, base: Scheduling): Scheduling {
  const kept = Object.values(base.partitions).filter(
    ({ name }) => name === DEFAULT_PARTITION || dice.happens(0.8),
  );
  const partitions = kept.map((one) => {
    const state = dice.pick(['up', 'up', 'down', 'drain', 'inactive'] as const);
    const limits = { ...one.limits, tasksPerUser: dice.pick([null, 1, 2]) };
    return { ...one, ...drawRules(dice), state, limits };
  });
  const qualities = Object.values(base.qualities).map((one) => {
    return one.name === 'normal' ? one : { ...one, runningTasksPerUser: dice.pick([null, 1, 3]) };
  });
  return {
    ...base,
    partitions: byName(partitions),
    qualities: byName(qualities),
    weights: drawWeights(dice),
    fairShare: {
      ...base.fairShare,
      halfLifeMs: dice.pick([base.fairShare.halfLifeMs, 60_000, 1000]),
      weights: dice.pick([base.fairShare.weights, { cpu: 1, memory: 0.5, gpu: 3 }]),
    },
  };
}

function byName<T extends { readonly name: string }>(list: readonly T[]): Record<string, T> {
  return Object.fromEntries(list.map((one) => [one.name, one]));
}
