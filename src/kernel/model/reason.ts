// Why a task waits, as values that the core makes. The words that people read are made of them in
// one place, head/answers/words.

import type { CapKind } from './caps.ts';
import type { JobId, NodeName, UserName } from './ids.ts';
import type { Dependency, ResourceRequest } from './job.ts';
import type { NodeFeature } from './node-features.ts';
import type { NodeSize } from './node-sizes.ts';
import type { Pause } from './pause.ts';

/** Gpus that are free and do not help: on several nodes, or on one and not joined. */
export interface GpusApart {
  readonly count: number;
  readonly words: string;
  /** Absent: they are on different nodes. */
  readonly unjoined?: true;
}

export type Reason =
  /** `because`: the head holds this task itself. `jobId` null: not submitted. */
  | { readonly kind: 'held'; readonly jobId: JobId | null; readonly because: string | null }
  /** The site holds the job, or hides it: it can be released only there. */
  | { readonly kind: 'held'; readonly there: HeldThere }
  /** The head lacks records that nodes know of. */
  | { readonly kind: 'head_behind' }
  | ({ readonly kind: 'dependency'; readonly on: readonly Awaited[] } & AwaitedHeld)
  /** Tasks of other arrays, with the index of this one. */
  | ({
      readonly kind: 'dependency';
      readonly arrays: readonly JobId[];
      readonly index: number;
    } & AwaitedHeld)
  | { readonly kind: 'begin_time'; readonly at: number }
  | { readonly kind: 'quota'; readonly limit: ArrayLimit | PoolLimit | UserLimit }
  | {
      readonly kind: 'partition';
      readonly partition: string;
      /** `external`: there is room, and its starts are another program's. */
      readonly problem: 'gone' | 'down' | 'inactive' | 'empty' | 'external';
    }
  | {
      readonly kind: 'no_node_can';
      readonly request: ResourceRequest;
      readonly partition: string;
      /** Nodes that could hold a part of the task. */
      readonly able: number;
      /** Nodes that only lack a newer agent, where those would be enough. */
      readonly outdated: NodeReasons | null;
      /** A site that has it all, but on no single node; absent: there is none such. */
      readonly site?: { readonly name: string; readonly largest: NodeSize };
      /** Nodes that are asked for by name, and that the cluster has no more; absent: none. */
      readonly gone?: readonly string[];
    }
  | {
      readonly kind: 'resources';
      readonly request: ResourceRequest;
      /** What is in the way on nodes that could hold a part. */
      readonly nodes: NodeReasons;
      /** Nodes that have room, which are too few; null where that goes without saying. */
      readonly room: number | null;
      /** Wanted gpus that are free, but not together. Absent: too few in all. */
      readonly apart?: GpusApart;
    }
  /** Too little is left of what the cluster counts as a whole; the nodes would do. */
  | { readonly kind: 'cluster_resource'; readonly lack: ClusterLack }
  /** Only pilots could run it, of which there are too few. `trouble`: why the last start failed. */
  | {
      readonly kind: 'pilots';
      readonly fleet: string;
      readonly trouble: string | null;
      readonly isPaused: boolean;
    }
  /** The task fits, but others go first. */
  | { readonly kind: 'priority'; readonly behind: Behind | null }
  | WindowReason;

/** A dependency that is not met yet. */
export interface Awaited extends Dependency {
  /** With `start`, when the time behind it is over; absent: it is not known yet. */
  readonly over?: { readonly at: number; readonly since: 'start' | 'end' };
}

/** Which of the jobs that are waited for are held themselves; absent: none. */
export interface AwaitedHeld {
  readonly held?: readonly JobId[];
}

/** A job that a user gave to a site itself, which holds it. */
export interface HeldThere {
  readonly site: NodeName;
  /** The site's own id. */
  readonly job: string;
  /** Null when the site does not say. */
  readonly because: string | null;
}

/** Too few of a counted resource of the whole cluster. */
export interface ClusterLack {
  readonly name: string;
  readonly asked: number;
  readonly total: number;
  readonly used: number;
  /** Jobs that have some: the first few. */
  readonly holders: readonly JobId[];
}

/** How many tasks of an array may run at once. */
export interface ArrayLimit {
  readonly of: 'array';
  readonly max: number;
  readonly running: number;
}

/** How many workers a pool asks for at present. */
export interface PoolLimit {
  readonly of: 'pool';
  readonly max: number;
  readonly running: number;
}

/**
 * What a user may hold in a partition, under a QoS, or (`user`) in the whole cluster; what all of a
 * group may hold together there.
 */
export interface UserLimit {
  readonly of: 'partition' | 'qos' | 'user' | 'group';
  /** The partition's, the QoS's, the user's or the group's. */
  readonly name: string;
  readonly user: UserName;
  /** A cap of a type of gpus as `gpus:a100`. */
  readonly what: 'tasks' | Exclude<CapKind, 'running'>;
  readonly held: number;
  readonly max: number;
}

/** Why a task that fits does not start. `turn`: nobody passes that job. */
export type Behind =
  | { readonly kind: 'turn'; readonly jobId: JobId }
  /** What is free now is set aside for that one, which starts then by the plan. */
  | { readonly kind: 'promise'; readonly jobId: JobId; readonly at: number };

/** What is set aside is in the way, or is what the task waits for. */
export type WindowReason = {
  /** `node_end`: a pilot, which is gone from then on. */
  readonly kind: 'reservation' | 'maintenance' | 'node_end';
  readonly name: string;
} & (
  | { readonly problem: 'begun'; readonly node: string; readonly endsInMs: number }
  | {
      readonly problem: 'would_run_into';
      readonly node: string;
      readonly startsInMs: number;
      readonly hasLimit: boolean;
    }
  /** The task's own reservation, in which alone it may run. */
  | { readonly problem: 'over' }
  /** A change of it since then keeps the task from ever starting there. */
  | { readonly problem: 'unfit'; readonly what: string }
  | { readonly problem: 'not_begun'; readonly startsInMs: number }
  | { readonly problem: 'too_short'; readonly endsInMs: number; readonly walltimeMs: number | null }
);

/** What is in the way on some of the nodes that could hold a part. */
export interface NodeReasons {
  /** How many could hold one. */
  readonly count: number;
  readonly nodes: readonly { readonly name: string; readonly situation: NodeSituation }[];
}

/** What keeps a part of a task from a node. */
export type NodeSituation =
  | ({ readonly kind: 'absent' } & Absence)
  | { readonly kind: 'outdated'; readonly features: readonly NodeFeature[] }
  /** The task wants it for itself alone. */
  | { readonly kind: 'busy' }
  /** No cpu is free. */
  | { readonly kind: 'full'; readonly cpusUsed: number; readonly cpusTotal: number }
  /** `enough`: each amount would do by itself. */
  | { readonly kind: 'free'; readonly enough: boolean; readonly amounts: readonly FreeAmount[] }
  | { readonly kind: 'reservation_used' }
  | {
      readonly kind: 'set_aside';
      readonly purpose: 'reservation' | 'maintenance' | 'node_end';
      readonly name: string;
      /** Null when it has begun. */
      readonly startsInMs: number | null;
      readonly endsInMs: number;
    };

/** `counted`: the name of a counted resource; `gpus`: gpus such as the task wants, in words. */
export interface FreeAmount {
  readonly of: 'cpu' | 'memory' | 'gpu' | { readonly counted: string } | { readonly gpus: string };
  readonly free: number;
  /** Why more of it is not given, or who has it, in words. Absent: it is in use. */
  readonly aside?: readonly string[];
}

/** Why a node gets no work. */
export type Absence =
  | { readonly why: 'drained'; readonly reason: string }
  | { readonly why: 'away'; readonly isUnreachable: boolean }
  | { readonly why: 'faulty'; readonly fault: string }
  /** The node is of a partition that another program schedules, and the task is not. */
  | { readonly why: 'external'; readonly partition: string }
  /** No whole look at the site has been decided since the node came: it may be busy there. */
  | { readonly why: 'unlooked'; readonly site: string }
  | { readonly why: 'paused'; readonly pause: Pause };
