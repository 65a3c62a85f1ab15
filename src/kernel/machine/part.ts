// What a wing adds to the head's machine: nouns of its own, and answers to what the machine asks of
// all wings (hooks). A hook is asked of each wing in the order of their list.

import type { Refusal } from '../model/errors.ts';
import type { EpochId, NodeName, UserName } from '../model/ids.ts';
import type { Outcome, ResourceRequest } from '../model/job.ts';
import type { LaunchOrder, Share } from '../model/orders.ts';
import type { Reason } from '../model/reason.ts';
import type { Resources } from '../model/resources.ts';
import type { QueueEntry } from '../scheduler/line/queue.ts';
import type { Window } from '../scheduler/room/lane.ts';
import type { Prepared } from '../scheduler/room/prepared.ts';
import type { Indexes } from './indexes.ts';
import type { Job, Part, Task } from './jobs/facts.ts';
import type { AnyNoun } from './noun.ts';
import type { Scratch } from './scratch.ts';
import type { State } from './state.ts';
import type { Step } from './step.ts';

export interface MachinePart {
  readonly nouns?: readonly AnyNoun[];
  /** The wing's own indexes, empty; its nouns fill them. */
  readonly indexes?: () => Partial<Indexes>;
  /** What it keeps only while the head runs. */
  readonly scratch?: () => Partial<Scratch>;
  /** Decides inputs of its own kinds (`OwnInputs`). */
  readonly inputs?: InputTable;
  readonly hooks?: Hooks;
  /** Kinds of its commands that give ids out: a head does so only when it knows all it gave. */
  readonly givingIds?: readonly string[];
  /** Kinds of its inputs that make jobs. */
  readonly makingJobs?: readonly string[];
}

/** Inputs of the machine that only a wing has, by kind: each wing declares its own. */
// biome-ignore lint/suspicious/noEmptyInterface: wings add to it
export interface OwnInputs {}

export type InputTable = {
  readonly [K in keyof OwnInputs]?: (step: Step, input: OwnInputs[K]) => void;
};

/** Tasks of a job that are over, by index. */
export interface TaskEnds {
  readonly indices: Iterable<number>;
  readonly outcome: Outcome;
  readonly at: number;
}

/** What nodes will offer that are still to come. */
export interface Offer {
  readonly name: NodeName;
  readonly total: Resources;
  readonly labels: ReadonlySet<string>;
  readonly sharedPaths: readonly string[];
}

/** A request that no node can hold, and whether other labels would help. */
export interface Unsatisfied {
  readonly owner: UserName;
  /** What its user has asked for. */
  readonly asked: ResourceRequest;
  /** What the scheduler is asked for. */
  readonly request: ResourceRequest;
  readonly couldRun: (request: ResourceRequest) => boolean;
}

/** A node that wants to be let in. */
export interface Newcomer {
  readonly node: NodeName;
  readonly tokenId: string | undefined;
}

/** A part whose task could not begin its own work. */
export interface FailedPart {
  readonly node: NodeName;
  readonly epochId: EpochId;
}

export interface Hooks {
  // While events are applied:
  readonly onJobAdded?: (state: State, job: Job) => void;
  readonly onJobDone?: (state: State, job: Job) => void;
  readonly onTasksEnded?: (job: Job, ends: TaskEnds) => void;
  readonly onBuilt?: (state: State, job: Job, node: NodeName) => void;
  /** Time that a start may take before its own, ms. */
  readonly timeBefore?: (job: Job, shares: readonly Share[]) => number;

  // While a step decides:
  readonly afterJob?: (step: Step, job: Job) => void;
  readonly afterEnrolment?: (step: Step, node: NodeName) => void;
  readonly onMaintenance?: (step: Step, id: string) => void;
  /** How the start of a task counts that starts again whatever its retries; null: as usual. */
  readonly startsAgain?: (
    step: Step,
    task: Task,
    worst: Part | undefined,
  ) => 'anew' | 'crash' | null;
  /** Set where the part ended before the task's own work began. */
  readonly failedBefore?: (task: Task, part: Part) => Outcome | null;
  readonly afterFailedBefore?: (step: Step, job: Job, failed: FailedPart) => void;
  readonly refuseNode?: (state: State, newcomer: Newcomer) => Refusal | null;
  /** Somebody has ended this node: no task took it down. */
  readonly isSentAway?: (state: State, node: NodeName) => boolean;

  // What else there is to know:
  /** The request with what else keeps its owner from nodes. */
  readonly narrow?: (state: State, owner: UserName, request: ResourceRequest) => ResourceRequest;
  readonly offers?: (state: State, owner: UserName) => Iterable<Offer>;
  /** Directories that nodes to come will share, whoever may use them. */
  readonly sharedPaths?: (state: State) => Iterable<string>;
  readonly windows?: (state: State) => Iterable<Window>;
  /** What brings nodes for a task that no node can hold. */
  readonly awaited?: (state: State, entry: QueueEntry) => Reason | null;
  readonly hint?: (state: State, unsatisfied: Unsatisfied) => string | undefined;
  readonly launch?: (task: Task) => Partial<LaunchOrder>;
  /** Nodes that are prepared for tasks, by a label that these have. */
  readonly prepared?: (state: State) => Prepared;
}
