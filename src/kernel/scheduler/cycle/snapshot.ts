// What one cycle is made from, all of it as of one instant.

import type { JobId, NodeName, UserName } from '../../model/ids.ts';
import { partitionOf, qosOf, type Scheduling } from '../../model/scheduling.ts';
import type { LineRules } from '../line/line.ts';
import type { Queue } from '../line/queue.ts';
import type { QuotaBook } from '../line/quota.ts';
import type { Brokerage } from '../room/brokerage.ts';
import type { ClusterStock } from '../room/cluster-room.ts';
import type { Window } from '../room/lane.ts';
import type { NodePool, NodeView } from '../room/pool.ts';
import type { Prepared } from '../room/prepared.ts';
import type { Hopeless } from './hopeless.ts';
import type { Rest } from './rest.ts';
import type { Stopped } from './resume.ts';

/** A task that holds resources. */
export interface ActiveTask {
  readonly jobId: JobId;
  readonly owner: UserName;
  readonly partition: string;
  readonly qos: string;
  /** On all its nodes together. */
  readonly cpus: number;
  readonly gpus?: number;
  /** Types of which its gpus may be; null or absent: any. */
  readonly types?: readonly string[] | null;
  /** Null when nobody knows. */
  readonly endsAt: number | null;
}

export interface Snapshot {
  readonly queue: Queue;
  readonly pool: NodePool;
  /** Nodes outside the pool that stopped tasks are on: they may go on there, nothing may begin. */
  readonly closed: ReadonlyMap<NodeName, NodeView>;
  /** A job of a partition that is not there waits. */
  readonly scheduling: Scheduling;
  /** `PriorityRules.fairness`. */
  readonly fairness: ReadonlyMap<UserName, number>;
  /** What is set aside, for whom and when; maintenance too. */
  readonly windows: readonly Window[];
  /** What users may still start; null = no limits anywhere. */
  readonly quotas: QuotaBook | null;
  /** What holds resources, for forecasts; absent: limits on it are taken to be far. */
  readonly active?: () => Iterable<ActiveTask>;
  /** Nodes that have the build that requests with this label are for; absent: none. */
  readonly prepared?: Prepared;
  /** Counted resources of the whole cluster; absent: there are none. */
  readonly stock?: ClusterStock;
  /** Load average per cpu by node, for `least_loaded`. */
  readonly loads: ReadonlyMap<NodeName, number>;
  /** What sites are compared by; absent: nothing is known of any. */
  readonly brokerage?: Brokerage;
  /** Tasks that were stopped for others, to go on as soon as there is room. */
  readonly stopped: readonly Stopped[];
  /** `PreemptionRules.hopeless`. */
  readonly hopeless?: Hopeless;
  /** Where the cycle before stopped; absent: this one begins at the front. */
  readonly from?: Rest | null;
  /** The cycle stops after this many starts and says so; the next one goes on from there. */
  readonly startsMax: number;
  /** And once it has looked at this many nodes and classes of nodes (`Board.work`). */
  readonly looksMax: number;
  /**
   * Conservative plans go no further once they set this many parts of tasks aside, one a node: each
   * costs its look in every cycle that goes on from this one.
   */
  readonly partsAheadMax: number;
  /**
   * Jobs for which it matters what is set aside for tasks of others, after the plan; absent: all is
   * to be told. Nothing is worked out for who is last in line where it would be of use to nobody.
   */
  readonly askers?: ReadonlySet<JobId>;
}

/** The order of tasks in this snapshot. */
export function lineRules(snapshot: Snapshot): LineRules {
  const { fairness, pool } = snapshot;
  const { scheduling } = snapshot;
  return {
    weights: scheduling.weights,
    fairness,
    nodeCount: pool.size,
    partition: (name) => {
      const partition = partitionOf(scheduling, name);
      const starts = partition?.state === 'up' || partition?.state === 'drain';
      return starts && partition.policy !== 'external' ? partition : null;
    },
    qos: (name) => qosOf(scheduling, name),
  };
}

/** Nothing set aside, no limits, everybody alike, all in one cycle. */
export const NO_RULES = {
  looksMax: Infinity,
  partsAheadMax: Infinity,
  fairness: new Map<UserName, number>(),
  windows: [],
  quotas: null,
  stopped: [],
  closed: new Map<NodeName, NodeView>(),
  loads: new Map<NodeName, number>(),
} as const;
