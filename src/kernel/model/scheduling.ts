// What a site tells the scheduler: partitions and qualities of service, that is, named sets of
// nodes, and named promises to users, with the limits and rules, and the weights of the priority.

import type { Caps, GroupCaps } from './caps.ts';
import type { NodeName, UserName } from './ids.ts';
import { meetsLabel } from './labels.ts';

/** The orders of starts that the scheduler of the head knows. */
export const PLANNING_POLICIES = ['first_fit', 'fifo', 'easy', 'conservative'] as const;

export const POLICIES = [...PLANNING_POLICIES, 'external'] as const;

export type PlanningPolicy = (typeof PLANNING_POLICIES)[number];

/**
 * Policies: who may start before whom. `first_fit`: whatever fits, in order (a wide task can
 * starve). `fifo`: nobody passes a task that waits. `easy`: nobody delays the first that waits
 * (Lifka 1995). `conservative`: nobody delays anybody planned before (Mu'alem and Feitelson 2001).
 * `external`: nothing, but what another program starts by its own order.
 */
export type Policy = (typeof POLICIES)[number];

/** What nobody chose: wide jobs do not starve, and little stands idle for it. */
export const DEFAULT_POLICY: Policy = 'easy';

/** Which of the nodes that fit: the first in node order, the emptiest, or the least busy. */
export const NODE_PLACEMENTS = ['pack', 'spread', 'least_loaded'] as const;

/**
 * Which of the sites: where it waits least by their own queues, where a cpu hour costs least, or
 * where its inputs have been.
 */
export const SITE_PLACEMENTS = ['least_wait', 'cheapest', 'near_data'] as const;

export const PLACEMENTS = [...NODE_PLACEMENTS, ...SITE_PLACEMENTS] as const;

export type PlacementRule = (typeof PLACEMENTS)[number];
export type SiteRule = (typeof SITE_PLACEMENTS)[number];

/** Returns null when the rule is one for plain nodes. */
export function siteRuleOf(rule: PlacementRule): SiteRule | null {
  return SITE_PLACEMENTS.find((one) => one === rule) ?? null;
}

export const PARTITION_STATES = ['up', 'down', 'drain', 'inactive'] as const;

/** `up` takes and starts; `down` takes, starts nothing; `drain` only starts; `inactive` neither. */
export type PartitionState = (typeof PARTITION_STATES)[number];

export const PREEMPT_MODES = ['off', 'suspend', 'requeue', 'cancel'] as const;

/** What becomes of a task that must make room. */
export type PreemptMode = (typeof PREEMPT_MODES)[number];

/** Tasks that `conservative` plans ahead unless the config says otherwise. */
export const DEPTH_DEFAULT = 100;

/** The partition that is always there, and that a job gets which names none. */
export const DEFAULT_PARTITION = 'default';

export interface Partition {
  readonly name: string;
  /** Null: all nodes, whatever `labels` says is then the only condition. */
  readonly nodes: readonly NodeName[] | null;
  /** A node belongs only if it meets all of these, labels or expressions over them. */
  readonly labels: readonly string[];
  readonly state: PartitionState;
  readonly policy: Policy;
  readonly placement: PlacementRule;
  /** Partitions of a higher tier are served first, and may preempt lower ones. */
  readonly tier: number;
  /** What happens to this partition's tasks when a higher tier or QoS needs their nodes. */
  readonly preempt: PreemptMode;
  /** Points that jobs of this partition get, times the partition weight; 0…1. */
  readonly priority: number;
  readonly limits: {
    /** Longest time limit; null = any. */
    readonly walltimeMs: number | null;
    /** What a job gets that sets no time limit; null = none. */
    readonly walltimeDefaultMs: number | null;
    readonly nodesPerTask: number | null;
    readonly tasksPerUser: number | null;
    readonly memoryPerNodeBytes: number | null;
  };
  /** Users who may submit; everybody when both are null. */
  readonly users: readonly UserName[] | null;
  readonly groups: readonly string[] | null;
}

/** Limits and rights of a quality of service; users name one at submission. */
export interface Qos {
  readonly name: string;
  /** 0…1, times the QoS weight. */
  readonly priority: number;
  /** A QoS of a higher tier may preempt one of a lower tier. */
  readonly tier: number;
  readonly preempt: PreemptMode;
  /** Tasks and cpus that one user may have running, and jobs that may wait; null = any. */
  readonly runningTasksPerUser: number | null;
  readonly runningCpusPerUser: number | null;
  readonly waitingJobsPerUser: number | null;
  /** Gpus, all and of types, that one user may have running. Absent: any. */
  readonly gpusPerUser?: Caps;
  readonly users: readonly UserName[] | null;
  readonly groups: readonly string[] | null;
}

/** The QoS of whoever names none. */
export const DEFAULT_QOS = 'normal';

/** A partition as it is when only its name is said. */
export function plainPartition(name: string, policy: Policy = DEFAULT_POLICY): Partition {
  return {
    name,
    nodes: null,
    labels: [],
    state: 'up',
    policy,
    placement: 'pack',
    tier: 0,
    preempt: 'off',
    priority: 0,
    limits: {
      walltimeMs: null,
      walltimeDefaultMs: null,
      nodesPerTask: null,
      tasksPerUser: null,
      memoryPerNodeBytes: null,
    },
    users: null,
    groups: null,
  };
}

/** A QoS as it is when only its name is said. */
export function plainQos(name: string): Qos {
  return {
    name,
    priority: 0,
    tier: 0,
    preempt: 'off',
    runningTasksPerUser: null,
    runningCpusPerUser: null,
    waitingJobsPerUser: null,
    users: null,
    groups: null,
  };
}

/** Points for a factor of 1. Highest sum first. */
export interface Weights {
  /** Points per hour of waiting, without bound: what waits long enough passes everything. */
  readonly age: number;
  /** For a task of all the cluster's nodes; smaller ones in proportion. */
  readonly size: number;
  readonly fairShare: number;
  readonly partition: number;
  readonly qos: number;
  /** Points that one step of nice takes away. */
  readonly nice: number;
}

/** First come, first served, but a step of nice is worth 100 hours. */
export const DEFAULT_WEIGHTS: Weights = {
  age: 10,
  size: 0,
  fairShare: 0,
  partition: 1000,
  qos: 1000,
  nice: 1000,
};

/** Everything the scheduler is told by the site; from the config file, with each input. */
export interface Scheduling {
  /** By name, plain data: the head's options are a JSON file. */
  readonly partitions: Readonly<Record<string, Partition>>;
  readonly qualities: Readonly<Record<string, Qos>>;
  readonly weights: Weights;
  /** How many waiting tasks of a partition `conservative` plans ahead. */
  readonly depthMax: number;
  readonly fairShare: FairShare;
  /** What a user may hold at once who has no caps of their own; absent: any number. */
  readonly caps?: Caps;
  /** The same by user, for members of groups that have caps. */
  readonly memberCaps?: Readonly<Record<string, Caps>>;
  /** Caps on all members of a group together; inner groups come first. Absent: there are none. */
  readonly groupCaps?: readonly GroupCaps[];
  /** Price of a cpu hour of each site, or of a node; absent: 0. */
  readonly prices?: Readonly<Record<string, number>>;
  /** Counted resources that the cluster has as a whole, licences for instance; absent: none. */
  readonly resources?: Readonly<Record<string, number>>;
}

/** Shares of the cluster that users ought to get in the long run. */
export interface FairShare {
  /** Time after which what was used counts half. */
  readonly halfLifeMs: number;
  readonly weights: BillingWeights;
  /** Shares of users against the others of the same group, or of none; absent = 1. */
  readonly users: Readonly<Record<string, number>>;
  readonly groups: Readonly<Record<string, FairShareGroup>>;
}

/** What a second of each counts, in seconds of usage. */
export interface BillingWeights {
  readonly cpu: number;
  /** The weight of a GiB. */
  readonly memory: number;
  readonly gpu: number;
  /** Those of types of gpus; of others `gpu` counts. Absent: of all. */
  readonly gpus?: Readonly<Record<string, number>>;
}

/** A group whose share its members divide, by their shares. A member is of one group only. */
export interface FairShareGroup {
  readonly share: number;
  readonly users: readonly UserName[];
  readonly groups: readonly string[];
}

/** A week, so that a weekend does not wipe out what came before it. */
export const HALF_LIFE_DEFAULT_MS = 7 * 86_400_000;

export const DEFAULT_BILLING: BillingWeights = { cpu: 1, memory: 0, gpu: 0 };

export const DEFAULT_FAIR_SHARE: FairShare = {
  halfLifeMs: HALF_LIFE_DEFAULT_MS,
  weights: DEFAULT_BILLING,
  users: {},
  groups: {},
};

/** One partition of all nodes, and no rules. */
export function plainScheduling(policy: Policy): Scheduling {
  return {
    partitions: { [DEFAULT_PARTITION]: plainPartition(DEFAULT_PARTITION, policy) },
    qualities: {},
    weights: DEFAULT_WEIGHTS,
    depthMax: DEPTH_DEFAULT,
    fairShare: DEFAULT_FAIR_SHARE,
  };
}

export function partitionOf({ partitions }: Scheduling, name: string): Partition | null {
  return Object.hasOwn(partitions, name) ? (partitions[name] as Partition) : null;
}

/** Whether the node is one of the partition's. */
export function isMember(
  { nodes, labels }: Partition,
  node: { readonly name: string; readonly labels: ReadonlySet<string> },
): boolean {
  if (nodes !== null && !nodes.some((name) => name === node.name)) return false;
  return labels.every((label) => meetsLabel(node.labels, label));
}

/** What a command may change of a partition, over what the config says. */
export type PartitionChange = Partial<
  Pick<Partition, 'state' | 'policy' | 'placement' | 'tier' | 'preempt' | 'priority'>
>;

/** A QoS that the site does not name has no rules. */
export function qosOf({ qualities }: Scheduling, name: string): Qos {
  return Object.hasOwn(qualities, name) ? (qualities[name] as Qos) : plainQos(name);
}
