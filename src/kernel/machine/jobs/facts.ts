// Jobs with their tasks, as the head knows them.

import type { IntervalSet } from '../../base/interval-set.ts';
import type { JobId, NodeName, TaskId, UserName } from '../../model/ids.ts';
import type { JobSpec, Outcome, OutcomeKind, Stopper, TaskState, Usage } from '../../model/job.ts';
import type { LifeId } from '../../model/life.ts';
import type { EndCause, ProcessEnd, Share } from '../../model/orders.ts';
import type { EndThere } from '../../model/processes.ts';
import type { Stored } from '../../model/staging.ts';
import type { QueueEntry } from '../../scheduler/line/queue.ts';

export interface JobsFacts {
  nextJobId: number;
  /** Jobs in memory: all that are not done, and the most recent done ones. */
  readonly jobs: Map<JobId, Job>;
  /** Done jobs still in memory, oldest first. */
  readonly finished: JobId[];
  /** `owner key` to job, in insertion order; bounded by SUBMISSION_KEYS_MAX. */
  readonly keys: Map<string, JobId>;
  /** Environments shared by equal content: 100,000 jobs of one shell have one. */
  readonly environments: Map<number, Environment>;
  nextEnvironmentId: number;
}

/** What follows from the facts of a job and is kept with it. */
interface IndexedJob {
  /** What the scheduler sees; `pending` is the job's own. */
  entry: QueueEntry;
  /** In the queue: something waits, and neither hold, dependency nor begin time forbids a start. */
  queued: boolean;
  /** Some of its tasks have not started: it counts against the limit of waiting jobs. */
  waiting: boolean;
}

export interface Job extends IndexedJob {
  readonly id: JobId;
  readonly owner: UserName;
  /** The uid of the owner on the submitter's machine; null for remote users. */
  readonly uid: number | null;
  /** The specification; its environment is shared with other jobs (`environments`). */
  spec: JobSpec;
  readonly environmentId: number;
  readonly key: string | null;
  submittedAt: number;
  /** May grow if it is a pool, and the last index with it. */
  taskCount: number;
  readonly firstIndex: number;
  lastIndex: number;
  /** Indices of the tasks that wait for a start. A plain job's index is 0. */
  readonly pending: IntervalSet;
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
   * sets. They are not in `pending`.
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
  /** Workers of a pool that are gone and may have left calls undone; 0 for every other job. */
  losses: number;
}

/** A task that has, or has had, an epoch and is not done. */
export interface Task {
  readonly id: TaskId;
  readonly job: Job;
  readonly index: number;
  state: TaskState;
  /** Starts so far; 0 before the first. */
  epoch: number;
  /** Starts among them that were given back before they began. */
  unbegun: number;
  /** The life of the head that gave the last start; null: not known. */
  life: LifeId | null;
  /** Epochs that ended in a failed exit. */
  failures: number;
  /** Epochs that took a node down or could not be launched. */
  crashes: number;
  parts: Map<NodeName, Part>;
  startedAt: number | null;
  /** Since when it starts, ends or is kept; of no other state. Null: not known. */
  waitsSince: number | null;
  /** Running time for its batch's build: what it may take, and once over, what it took. */
  buildMs: number;
  /** Why the current epoch is being ended by us, if it is. */
  ending: Ending | null;
  /** Parties that keep the task stopped, with reasons; it resumes when this is empty (stops.ts). */
  stops: Map<Stopper, string>;
  /** Total time its walltime clock was paused; the longest over its nodes. */
  pausedMs: number;
  /** Counts how often this epoch was told to stop or to go on. */
  suspendTurn: number;
  /** Held alone: by the crash limit. The words say why. */
  heldBecause: string | null;
}

export type Ending =
  | {
      readonly kind: 'cancel';
      readonly by: string;
      readonly because?: string;
      /** A worker of a pool that is closed: it has completed. */
      readonly closes?: true;
      /** Asked for while its files were being kept: that has the kill grace to end. */
      readonly hastens?: true;
      /** Asked for once more since then: that is given up. */
      readonly discards?: true;
    }
  | {
      readonly kind: 'requeue';
      readonly by: string;
      readonly because?: string;
      /** When it waits again it is held, until somebody releases it. */
      readonly holds?: true;
    }
  /** Another part of a multi-node task has ended badly, or an MPI task's program has ended. */
  | { readonly kind: 'sibling'; readonly outcome: Outcome };

/** One node's part of an epoch. */
export interface Part {
  readonly share: Share;
  readonly nodeRank: number;
  /** `storing`: its processes are gone, and what it leaves is being kept. */
  state: 'ordered' | 'started' | 'suspended' | 'storing' | 'ended';
  /** Set while the part waits in the queue of a site that decides itself. Absent: it does not. */
  atSite?: true;
  /** True while it waits on its node for a place of its job, and holds nothing. */
  isNext: boolean;
  /** The solver of its batch is there. Absent: not that anybody knows, or there is none. */
  isBuilt?: true;
  /** Set when the node no longer has the part, and is asked how it ended. Absent: not so. */
  isAsked?: true;
  /** Set when the part began before nodes that could not build retry. Absent: not so. */
  isOfOldAttempt?: true;
  /** When it started, by the node's own clock. Absent: it has not, or nobody said. */
  nodeStartedAt?: number;
  /** Turn of the newest report of a stop or a go, as the node counts them; 0 before the first. */
  turnHeard: number;
  /** The same as of the task, on this node. */
  pausedMs: number;
  /** Since when its time limit stands still, by the head's clock; null: it runs. */
  pausedAt: number | null;
  end: PartEnd | null;
}

export interface PartEnd {
  readonly cause: EndCause;
  readonly nodeFault: boolean;
  readonly processes: readonly ProcessEnd[];
  readonly usage: Usage;
  readonly detail?: string;
  readonly there?: EndThere;
  readonly stored?: Stored;
  /** By the head's clock; before the record when the report came late. */
  readonly at: number;
}

export interface Environment {
  readonly text: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Jobs in memory that share it. */
  users: number;
}
