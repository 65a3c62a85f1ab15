// What the head wants of an agent (orders, derived from state and resent until they show) and
// what an agent says of its tasks (reports, numbered and resent until acknowledged). Both name
// the epoch.

import type { ContainerImage } from './container-engine.ts';
import type { EpochId, NodeName, TaskPlace, UserName } from './ids.ts';
import type {
  ExitStatus,
  MpiSpec,
  OnNodeLoss,
  OutputFiles,
  Program,
  Recycle,
  SignalTo,
  Usage,
  Warning,
  WorkDirectory,
} from './job.ts';
import type { LifeId } from './life.ts';
import type { Pause, PauseOrder } from './pause.ts';
import type { EndThere } from './processes.ts';
import type { Resources } from './resources.ts';
import type { StagingOrder, Stored } from './staging.ts';

/** The account the processes run under; the agent looks the ids up by name on its own machine. */
export interface Account {
  readonly user: UserName;
  /** The uid at the submitter's machine: must agree where both are known. Null for remote users. */
  readonly uid: number | null;
  /** A program of the cluster itself: under the agent's own account, whatever `user` says. */
  readonly own?: true;
}

/** What one node gives to one epoch. */
export interface Share {
  readonly node: NodeName;
  readonly resources: Resources;
  /** Which gpus, by index on the node. */
  readonly gpus: readonly number[];
  /** Type of each of them, in their order, as it was at the start. Absent: none is known. */
  readonly gpuTypes?: readonly string[];
  /** Only so much of the memory of each of them. Absent: they are its alone. */
  readonly gpuShareBytes?: number;
}

/** What tasks of a batch are told of it. */
export interface BatchPlace {
  readonly title: string;
  /** Folder of the solver's build, among those kept for the user; null: none is built. */
  readonly build: string | null;
  /** Where the build failed, only another attempt tries again. Absent: an older head's. */
  readonly attempt?: string;
  /** The task may first take so long to build it, or to wait for that. Absent: in its own time. */
  readonly buildMs?: number;
}

/** Everything an agent must know to run its part of one epoch of one task. */
export interface LaunchOrder {
  readonly kind: 'launch';
  readonly epochId: EpochId;
  readonly place: TaskPlace;
  readonly epoch: number;
  /** The life of the head that gave this start (`model/life.ts`). Absent: of an older head. */
  readonly life?: LifeId;
  readonly jobName: string;
  readonly account: Account;
  readonly program: Program;
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: WorkDirectory;
  readonly files: OutputFiles;
  /** Null where it runs in a directory that is not its own. */
  readonly staging: StagingOrder | null;
  /** The batch that it belongs to; absent: none. */
  readonly batch?: BatchPlace;
  readonly umask: number;
  readonly walltimeMs: number | null;
  /** Before the time limit. */
  readonly warning: Warning | null;
  readonly onNodeLoss: OnNodeLoss;
  /** Absent: of an older head, as null. */
  readonly onOom?: 'end' | null;
  readonly share: Share;
  readonly exclusive: boolean;
  /** This node's place among the task's nodes, from 0. */
  readonly nodeRank: number;
  readonly nodes: readonly NodeName[];
  readonly processesPerNode: number;
  /**
   * The program runs on the first node; the others run a server of steps, opened by `key`. Missing
   * for every other job.
   */
  readonly mpi?: MpiSpec & { readonly key: string };
  /** Nothing of ours runs: the site is told to start this job of its. Missing for other jobs. */
  readonly foreign?: { readonly job: string; readonly index: number | null };
  /** The pool whose worker the task is, which proves it by `key`. Missing for every other job. */
  readonly pool?: {
    readonly key: string;
    readonly recycle?: Recycle;
    /** In which it runs; missing: it runs on the node itself. */
    readonly image?: ContainerImage;
    /** The interpreter for functions of Python programs; missing: they are of Node programs. */
    readonly python?: string;
  };
  /**
   * The start is to wait until a task of its job gives its place on the node up. Missing where the
   * agent knows nothing of that: then it never does.
   */
  readonly next?: boolean;
  /** Starts of the task before this one that never began. Missing as `next` is: none known. */
  readonly unbegun?: number;
  /** Shared by all tasks of an array: first, last and count for the environment. */
  readonly array: { readonly first: number; readonly last: number; readonly count: number } | null;
}

/** End what runs of this epoch (TERM, grace, KILL, to every process) and report it ended. */
export interface EndOrder {
  readonly kind: 'end';
  readonly epochId: EpochId;
  /** The same as in `LaunchOrder`. */
  readonly life?: LifeId;
  readonly graceMs: number;
  /** For the agent's log. Only `cancel` and `requeue` end a job that a user gave to a site. */
  readonly why: string;
  /** The task runs again or elsewhere: nobody wants what this start of it leaves. */
  readonly discards?: true;
  /** What it leaves is being kept: that may take `graceMs` more. */
  readonly hastens?: true;
  /** Only if it waits for a place yet (`LaunchOrder.next`). */
  readonly unlessBegun?: true;
}

export interface SuspendOrder {
  readonly kind: 'suspend';
  readonly epochId: EpochId;
  /** Counts what owners asked of this epoch: an order of an older turn than one heard is past. */
  readonly turn: number;
}

export interface ResumeOrder {
  readonly kind: 'resume';
  readonly epochId: EpochId;
  /** The same as in `SuspendOrder`. */
  readonly turn: number;
  /** Nothing but a turn not heard yet counts: what others have stopped since stays so. */
  readonly isOnce?: true;
}

/** Send this signal once (`weft kill --signal`); not resent: `serial` makes it unique. */
export interface SignalOrder {
  readonly kind: 'signal';
  readonly epochId: EpochId;
  readonly signal: number;
  readonly serial: number;
  /** Absent: to all processes, as of older heads. */
  readonly to?: SignalTo;
}

/**
 * Say how this epoch ended, which the agent no longer holds: the head has lost what it was told.
 * Only to agents that answer it (`answers`).
 */
export interface TellOrder {
  readonly kind: 'tell';
  readonly epochId: EpochId;
  /** The same as in `LaunchOrder`. */
  readonly life?: LifeId;
}

/** About one epoch. */
export type TaskOrder =
  | LaunchOrder
  | EndOrder
  | SuspendOrder
  | ResumeOrder
  | SignalOrder
  | TellOrder;

/** A wish about the node itself goes only to agents that know pauses. */
export type Order = TaskOrder | PauseOrder;

/** Why an agent's part of an epoch ended. */
export type EndCause =
  /** All processes ended by themselves. */
  | 'exited'
  /** An end order was carried out while processes ran. */
  | 'ended'
  | 'timeout'
  | 'out_of_memory'
  /** A process could not be started; `detail` has the step and the errno text. */
  | 'launch_failed'
  /** The task's files could not be brought; `detail` says which and why. Nothing was started. */
  | 'stage_failed'
  /** The agent could not reach the head for as long as the lease allows. */
  | 'lease_expired'
  /** The processes are gone or were ended without an exit status: launcher or machine was lost. */
  | 'lost'
  /** The agent never had this epoch. */
  | 'never_started';

export interface ProcessEnd {
  readonly rank: number;
  readonly exit: ExitStatus;
}

export type TaskReport =
  | {
      readonly kind: 'task_started';
      readonly epochId: EpochId;
      readonly at: number;
      /** How limits are enforced here: `cgroup`, `polling`, or `none` with the reason in words. */
      readonly limits: string;
      /** How long before `at` it happened, as the site says. Absent: at that instant. */
      readonly agoMs?: number;
    }
  | {
      readonly kind: 'task_suspended' | 'task_resumed';
      readonly epochId: EpochId;
      readonly at: number;
      /**
       * Counts the stops and goes of the epoch on this node, from 1: one that is not newer than the
       * last heard is from the past.
       */
      readonly turn: number;
    }
  /** The solver of its batch is built on its node: from here on its own time counts. */
  | {
      readonly kind: 'task_built';
      readonly epochId: EpochId;
      readonly at: number;
      /** Running time that went before. */
      readonly tookMs: number;
    }
  /** The task's processes are gone, and what it leaves is kept. Not reported if nothing is. */
  | { readonly kind: 'task_storing'; readonly epochId: EpochId; readonly at: number }
  | {
      readonly kind: 'task_ended';
      readonly epochId: EpochId;
      readonly at: number;
      readonly cause: EndCause;
      /** True when another try, here or elsewhere, could help (fork failed, not "no such file"). */
      readonly nodeFault: boolean;
      readonly processes: readonly ProcessEnd[];
      readonly usage: Usage;
      readonly detail?: string;
      /** Absent: nobody at a site made it end. */
      readonly there?: EndThere;
      /** Absent: there was nothing to keep. */
      readonly stored?: Stored;
      /**
       * Set when nothing was written to any captured stream: the node's rank among the task's
       * nodes, which names the files that are thereby complete. Only said to heads that take it.
       */
      readonly silentNodeRank?: number;
      /** When it started, by the node's clock, in an end told once more. Absent: it never did. */
      readonly startedAt?: number;
      /** The epoch that has its place from now on, and starts. Absent: none waited for it. */
      readonly next?: EpochId;
    };

/** How an epoch ended on its node. */
export type EndReport = Extract<TaskReport, { kind: 'task_ended' }>;

/** How the node's pause is from now on. Only said to heads that take it. */
export interface PauseReport {
  readonly kind: 'node_pause';
  readonly at: number;
  /** Counts these reports: one that is not newer than the last heard is from the past. */
  readonly turn: number;
  /** Serial of the newest order about it that the agent has heard. */
  readonly orderHeard: number;
  readonly pause: Pause | null;
  /** How the one before came to its end. */
  readonly why?: string;
}

export type Report = TaskReport | PauseReport;

/** What an agent holds when it says hello: everything not yet acknowledged as ended. */
export interface HeldEpoch {
  readonly epochId: EpochId;
  readonly place: TaskPlace;
  readonly epoch: number;
  /** The one that its launch order named. */
  readonly life?: LifeId;
  readonly share: Share;
  /** Set while it waits for the place of a task of its job. Absent: it has its own. */
  readonly isNext?: true;
  /** Absent: its processes do not all run yet, or an older agent holds it. */
  readonly stands?: HeldState;
}

/** How an epoch stands on its node; the head may have lost what it was told of it. */
export interface HeldState {
  /** Ms since 1970, by the node's clock: now, and when it started. */
  readonly at: number;
  readonly startedAt: number;
  /** Turn of the newest order to stop or to go on. */
  readonly turnHeard: number;
  /** Turn of the newest report of a stop or a go, and which of the two it was. */
  readonly turnTold: number;
  /** When that was, while the report is under way. Absent: the head has taken it, and lost it. */
  readonly turnedAt?: number;
  readonly suspended: boolean;
  /** The task's processes are gone, and what it leaves is being kept. */
  readonly storing: boolean;
}

/** How often the task has begun before, as far as its order says. */
export function beganBefore({
  epoch,
  unbegun = 0,
}: Pick<LaunchOrder, 'epoch' | 'unbegun'>): number {
  return Math.max(0, epoch - 1 - unbegun);
}
