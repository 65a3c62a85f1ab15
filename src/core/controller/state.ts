// Everything the head knows, in memory. Only `apply` changes it; a restart builds it again from
// the same events. Index structures beside the facts keep every step's cost independent of queue
// length.

import type { IntervalSet } from '../base/interval-set.ts';
import type { Role } from '../model/actor.ts';
import type { EpochId, JobId, NodeName, TaskId, TaskPlace, UserName } from '../model/ids.ts';
import type { JobSpec, Outcome, OutcomeKind, Stopper, TaskState, Usage } from '../model/job.ts';
import type { LostRecords } from '../model/loss.ts';
import type { Maintenance } from '../model/maintenance.ts';
import type { NodeFacts } from '../model/node.ts';
import type { NodeFeature } from '../model/node-features.ts';
import type { EndCause, ProcessEnd, Share, SignalOrder } from '../model/orders.ts';
import type { Reservation } from '../model/reservation.ts';
import type { Resources } from '../model/resources.ts';
import type { Partition, PartitionChange } from '../model/scheduling.ts';
import type { Hopeless } from '../scheduler/cycle/hopeless.ts';
import type { Rest } from '../scheduler/cycle/rest.ts';
import { Queue, type QueueEntry, ShapeBook } from '../scheduler/line/queue.ts';
import { HeldBook } from '../scheduler/line/quota.ts';
import { UsageBook } from '../scheduler/line/usage-book.ts';
import { NodePool } from '../scheduler/room/pool.ts';

export interface Job {
  readonly id: JobId;
  readonly owner: UserName;
  /** Of the owner on the submitter's machine; null for remote users. */
  readonly uid: number | null;
  /** Its environment is shared with other jobs (`environments`). */
  spec: JobSpec;
  readonly environmentId: number;
  readonly key: string | null;
  readonly submittedAt: number;
  readonly taskCount: number;
  readonly firstIndex: number;
  readonly lastIndex: number;
  /**
   * What the scheduler sees; `entry.pending` are the indices that wait. A plain job's index is 0.
   */
  entry: QueueEntry;
  /** In the queue: something waits, and neither hold, dependency nor begin time forbids a start. */
  queued: boolean;
  /** Some of its tasks have not started: it counts against the limit of waiting jobs. */
  waiting: boolean;
  /**
   * Tasks that are neither untouched-pending nor done, by index. `jobs/parts.ts` writes.
   */
  active: ReadonlyMap<number, Task>;
  /** Done tasks by outcome. */
  ended: ReadonlyMap<OutcomeKind, IntervalSet>;
  held: boolean;
  /** Dependencies not yet met. */
  waitsFor: ReadonlySet<JobId>;
  /**
   * Indices that wait for the task of another array with their index, by that array: never empty
   * sets. They are not in `entry.pending`.
   */
  behind: ReadonlyMap<JobId, IntervalSet>;
  beginReached: boolean;
  startedAt: number | null;
  endedAt: number | null;
  /** Once done: the outcome of its first task that did not complete, else `completed`. */
  outcome: Outcome | null;
  /** The first bad outcome of a task so far. */
  worst: Outcome | null;
  usage: Usage;
}

/** A task that has, or has had, an epoch and is not done. */
export interface Task {
  readonly id: TaskId;
  readonly job: Job;
  readonly index: number;
  state: TaskState;
  /** Starts so far; 0 before the first. */
  epoch: number;
  /** Epochs that ended in a failed exit. */
  failures: number;
  /** Epochs that took a node down or could not be launched. */
  crashes: number;
  parts: Map<NodeName, Part>;
  startedAt: number | null;
  /** Why the current epoch is being ended by us, if it is. */
  ending: Ending | null;
  /** Who keeps it stopped, and in words why: it goes on when the map is empty (stops.ts). */
  stops: Map<Stopper, string>;
  /** Total time its walltime clock was paused; the longest over its nodes. */
  pausedMs: number;
  /** Counts how often this epoch was told to stop or to go on. */
  suspendTurn: number;
  /** Held alone: by the crash limit. The words say why. */
  heldBecause: string | null;
}

export type Ending =
  | { readonly kind: 'cancel'; readonly by: string; readonly because?: string }
  | { readonly kind: 'requeue'; readonly by: string; readonly because?: string }
  /** Another part of a multi-node task has ended badly, or an MPI task's program has ended. */
  | { readonly kind: 'sibling'; readonly outcome: Outcome };

/** One node's part of an epoch. */
export interface Part {
  readonly share: Share;
  readonly nodeRank: number;
  state: 'ordered' | 'started' | 'suspended' | 'ended';
  /** When it started, by the node's own clock. Absent: it has not, or nobody said. */
  nodeStartedAt?: number;
  /** Of the newest report of a stop or a go, as the node counts them; 0 before the first. */
  turnHeard: number;
  /** As of the task, on this node. */
  pausedMs: number;
  /** Since when its clock stands still, by the node's own clock; null: it runs. */
  pausedAt: number | null;
  end: PartEnd | null;
}

export interface PartEnd {
  readonly cause: EndCause;
  readonly nodeFault: boolean;
  readonly processes: readonly ProcessEnd[];
  readonly usage: Usage;
  readonly detail?: string;
  /** By the head's clock; before the record when the report came late. */
  readonly at: number;
}

export interface Node {
  readonly name: NodeName;
  secretHash: string;
  /** Declared at enrolment; wins over what the agent finds. */
  declared: Resources | null;
  /** Given by operators; the agent's own are in `agentLabels`. */
  readonly labels: Set<string>;
  agentLabels: readonly string[];
  sharedPaths: readonly string[];
  /** Of its agent; null: not heard of yet, and taken for all there are. */
  features: readonly NodeFeature[] | null;
  /** All of these together; null once one of them has changed. */
  labelling: Labelling | null;
  /** Zero before the first hello. */
  total: Resources;
  free: Resources;
  readonly gpusFree: IntervalSet;
  bootId: string;
  instance: string;
  facts: NodeFacts | null;
  /** Counts connections; reports of an older one are refused. 0 = never seen. */
  session: number;
  connected: boolean;
  /** Silent beyond the time-out since this instant; null while reachable. */
  unreachableSince: number | null;
  lastSeenAt: number | null;
  drain: { readonly reason: string; readonly by: string; readonly at: number } | null;
  /** Why it says that it can take no new work; null while it can. */
  fault: string | null;
  /** Launch failures in a row. */
  launchFailures: number;
  /** Every epoch that may still have processes here, with what it occupies. */
  readonly holding: Map<EpochId, Holding>;
  /** Registration order, the order of placement. */
  readonly order: number;
  /** A signal to send once, by epoch; goes with the epoch or when a newer one replaces it. */
  readonly signals: Map<EpochId, SignalOrder>;
}

/** `key`: sorted and joined; nodes with the same labels have the same. */
export interface Labelling {
  readonly labels: ReadonlySet<string>;
  readonly key: string;
}

/** An epoch's claim on a node. It goes only on evidence that its processes are gone. */
export interface Holding {
  readonly epochId: EpochId;
  readonly share: Share;
  /** Null: a stale epoch, kept only until its processes are known to be gone. */
  task: Task | null;
  /** It is stopped to make room: so many of its cpus are not counted. */
  yieldedCpus: number;
}

export interface User {
  readonly name: UserName;
  readonly role: Role;
  /** Given by an admin, for partitions and qualities of service. */
  readonly groups: readonly string[];
}

/** What commands have set of a partition. */
export interface PartitionOverride {
  readonly change: PartitionChange;
  readonly by: string;
  readonly at: number;
}

export interface Token {
  readonly id: string;
  readonly hash: string;
  readonly purpose: 'user' | 'join';
  readonly user: UserName;
  readonly label: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
}

/** Cycles that were cut short and follow each other. */
export interface Chain {
  readonly hopeless: Hopeless;
  /** Null: the next one is the first. */
  readonly rest: Rest | null;
  /** Something has happened between them, of which the first knew nothing. */
  isStirred: boolean;
}

/** Memory of each cpu that a request asks for, with whom it was worked out of. */
export interface MemoryShare extends Pick<Partition, 'nodes' | 'labels'> {
  readonly bytes: number;
}

export interface State {
  nextJobId: number;
  /** The largest epoch that any task has had. */
  epochMax: number;
  /** Epochs up to this one may have been given out in records that are lost. */
  epochFloor: number;
  /** Oldest first. */
  readonly losses: LostRecords[];
  /** Fingerprint of the head's certificate; null while it never listened on a port. */
  identity: string | null;
  /** Jobs in memory: all that are not done, and the most recent done ones. */
  readonly jobs: Map<JobId, Job>;
  /** Done jobs still in memory, oldest first. */
  readonly finished: JobId[];
  readonly nodes: Map<NodeName, Node>;
  readonly users: Map<UserName, User>;
  readonly tokens: Map<string, Token>;
  /** By the partition's name, which the config may have dropped meanwhile. */
  readonly partitions: Map<string, PartitionOverride>;
  /** `owner key` to job, in insertion order; bounded by SUBMISSION_KEYS_MAX. */
  readonly keys: Map<string, JobId>;
  /** Shares of nodes set aside for later or for now, by id; maintenance too. */
  readonly reservations: Map<string, Reservation>;
  nextReservationId: number;
  /** All that are not over, and the last that are, oldest first; their windows are reservations. */
  readonly maintenances: Map<string, Maintenance>;
  /** Jobs that wait for this one. */
  readonly dependents: Map<JobId, Set<JobId>>;
  /** Jobs that wait for their begin time. */
  readonly beginning: Set<JobId>;
  /** What the scheduler may start, in order. */
  readonly queue: Queue;
  /** Environments shared by equal content: 100,000 jobs of one shell have one. */
  readonly environments: Map<number, Environment>;
  readonly environmentIds: Map<string, number>;
  nextEnvironmentId: number;
  /** Equal parts of one submission after another are kept once. */
  lastSpec: { readonly text: string; readonly spec: JobSpec } | null;
  /** What can be given work, for the scheduler. */
  readonly pool: NodePool;
  readonly shapes: ShapeBook;
  /** Not state: what `default-memory.ts` has worked out; emptied when a node changes. */
  readonly memoryShares: Map<string, MemoryShare>;
  /** Tasks stopped to make room, or about to be. */
  readonly preempted: Set<Task>;
  /** Not state: the last cycle was cut short, the next goes on from there. Null: it was not. */
  chain: Chain | null;
  /** What users hold, for their limits. */
  readonly held: HeldBook;
  /** What users have used lately, for fair share. */
  readonly usage: UsageBook;
  /** Jobs that wait, by owner and QoS (`waitingKey`). */
  readonly waiting: Map<string, number>;
  /** Something changed that may let a task start. */
  scheduleDue: boolean;
  /** Not state: which of the reservations with skipped occurrences are tried next. */
  retryTurn: number;
  /** Not state: the instant from which on that is. */
  retryNotBefore: number;
  /** The last cycle planned ahead: time alone may let a task start. */
  plansAhead: boolean;
  /** Counts signal orders, so that each is unique. */
  signalSerial: number;
  nextNodeOrder: number;
  /** Not state: epochs whose orders may have changed since the shell last looked; it empties it. */
  readonly touched: Touch[];
  /** Not state: what the last steps ended, for the history; the shell empties it. */
  readonly endedEpochs: EndedEpoch[];
  /** Not state: jobs submitted or done in the last steps, for the history; the shell empties it. */
  readonly changedJobs: Set<Job>;
}

/** One epoch that is over, as the history keeps it. */
export interface EndedEpoch {
  readonly job: Job;
  readonly index: number;
  readonly epoch: number;
  readonly nodes: readonly NodeName[];
  readonly startedAt: number | null;
  readonly endedAt: number;
  readonly usage: Usage;
  /** False: requeued, another epoch follows. */
  readonly final: boolean;
  readonly outcome: Outcome;
}

export interface Touch {
  readonly node: NodeName;
  readonly epochId: EpochId;
}

export interface Environment {
  readonly text: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Jobs in memory that share it. */
  users: number;
}

export function createState(): State {
  return {
    nextJobId: 1,
    jobs: new Map(),
    finished: [],
    nodes: new Map(),
    users: new Map(),
    tokens: new Map(),
    partitions: new Map(),
    keys: new Map(),
    reservations: new Map(),
    nextReservationId: 1,
    epochMax: 0,
    epochFloor: 0,
    losses: [],
    identity: null,
    maintenances: new Map(),
    dependents: new Map(),
    beginning: new Set(),
    queue: new Queue(),
    environments: new Map(),
    environmentIds: new Map(),
    nextEnvironmentId: 1,
    lastSpec: null,
    pool: new NodePool(),
    shapes: new ShapeBook(),
    memoryShares: new Map(),
    preempted: new Set(),
    chain: null,
    held: new HeldBook(),
    usage: new UsageBook(),
    waiting: new Map(),
    scheduleDue: false,
    retryTurn: 0,
    retryNotBefore: 0,
    plansAhead: false,
    signalSerial: 0,
    nextNodeOrder: 1,
    touched: [],
    endedEpochs: [],
    changedJobs: new Set(),
  };
}

/** The index inside a job: a plain job's only task has 0. */
export function indexOf(place: TaskPlace): number {
  return place.index ?? 0;
}

export function placeOf(job: Job, index: number): TaskPlace {
  return { jobId: job.id, index: job.spec.array === null ? null : index };
}
