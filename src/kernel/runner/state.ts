// What an agent knows of its parts of epochs. Plain data; only apply.ts changes it.

import { type EpochId, formatTaskId, type TaskId } from '../model/ids.ts';
import type { ExitStatus, Usage } from '../model/job.ts';
import type { LifeId, Stamp } from '../model/life.ts';
import { CLOCK_STEP_MIN_MS } from '../model/limits.ts';
import type { EndCause, EndReport, LaunchOrder, Report } from '../model/orders.ts';
import type { EndThere } from '../model/processes.ts';
import { NO_PAUSES, type Pauses } from './pause/state.ts';

/** Both clocks of one instant: wall for people and reports, monotonic for every time-out. */
export interface Now {
  /** Ms since 1970. */
  readonly at: number;
  /** Ms since the machine started, so that it survives a restart of the agent. */
  readonly monotonic: number;
  /** The wall clock when the machine was started: it changes when somebody sets it. Absent: not known. */
  readonly bootedAt?: number;
}

/**
 * `waiting`: an older epoch of the task is still here. `accepted`: to be prepared. `launching`:
 * starts were asked for. `running`: all processes have started. `sweeping`: the main processes are
 * gone and leftovers are being killed. `storing`: nothing of it lives, and files that it leaves are
 * being kept. `ended`: here until the head and the log shipper let go.
 */
export type Phase =
  | 'waiting'
  | 'accepted'
  | 'launching'
  | 'running'
  | 'sweeping'
  | 'storing'
  | 'ended';

export type ProcessState = 'requested' | 'running' | 'stopped' | 'exited' | 'failed' | 'lost';

export interface Process {
  readonly launchId: number;
  state: ProcessState;
  /** Only of `exited`. */
  exit: ExitStatus | null;
  /** Ms since 1970; only of `exited`. */
  endedAt: number | null;
}

/** Causes that the agent itself can bring about while processes live. */
export type EndingCause = Extract<
  EndCause,
  'ended' | 'timeout' | 'out_of_memory' | 'lease_expired' | 'launch_failed'
>;

/** The processes are being ended: TERM was sent at `at`, KILL follows at `killAt`. */
export interface Ending {
  readonly cause: EndingCause;
  readonly why: string;
  /** Nobody wants what it leaves. */
  readonly discards: boolean;
  /** Ms since 1970. */
  readonly at: number;
  /** Monotonic; moves on with every KILL, which is repeated while something lives. */
  killAt: number;
  kills: number;
}

/** What the shell set up for an epoch; kept because a restarted agent needs it to clean up. */
export interface Preparation {
  /** How limits are enforced: `cgroup`, `polling`, or `none` with the reason in words. */
  readonly limits: string;
  /** Names the limit group for the shell; null without one. */
  readonly group: string | null;
  /** Whose processes these are on this machine; null = the agent's own user. */
  readonly uid: number | null;
  /** Where the processes run. */
  readonly directory: string;
  /** Names the spool files for the shell; without it they are named after the epoch. */
  readonly spool?: string;
}

export interface Failure {
  readonly detail: string;
  readonly nodeFault: boolean;
  /** Absent: no site had to do with it. */
  readonly there?: EndThere;
}

export interface Epoch {
  readonly order: LaunchOrder;
  readonly taskId: TaskId;
  phase: Phase;
  preparation: Preparation | null;
  /** By rank; empty until launching. */
  processes: Process[];
  /** First process started, ms since 1970. */
  startedAt: number | null;
  /** It had begun so long before that, as its site or launcher says. Absent: it began then. */
  begunMs?: number;
  /** `Now.bootedAt` then. Absent: not known, or it was before the machine was started anew. */
  bootedAt?: number;
  /** Running time before `runningSince`, without suspended time. */
  runningMs: number;
  /** Monotonic; null while nothing runs or everything is stopped. */
  runningSince: number | null;
  /** The last suspend (true) or resume (false) order that has not shown yet or still holds. */
  suspendWanted: boolean | null;
  /** Counts those orders, so that each is carried out once. */
  suspendTurns: number;
  /** Turn of the newest such order, as the head counts them; 0 before the first. */
  turnHeard: number;
  /** Turn of the last report of a stop or a go; 0 before the first. */
  turnTold: number;
  suspended: boolean;
  /** The node is paused: it stands still whatever `suspendWanted` says. */
  paused: boolean;
  ending: Ending | null;
  failure: Failure | null;
  /** Who began it at its site has ended it there, in the words of that. Absent: nobody did. */
  cancelledThere?: string;
  /** Serial of the last signal order. */
  signalSerial: number;
  /** The solver of its batch is there, where its order leaves time for that. Absent: not yet. */
  built?: true;
  /** The signal before the time limit has been sent. */
  warned: boolean;
  usage: Usage;
  /** Only of `storing`: how it ended, to be said when that is over. */
  end: EndReport | null;
  /** Only of `ended`: what was told of it, should a head that lost it ask once more. */
  told?: EndReport;
  /** Only of `storing`, monotonic: what is not kept by then is given up. Absent: no limit. */
  storeUntil?: number;
  /** The end report has been acknowledged. */
  acknowledged: boolean;
  /** The shell has shipped the output and removed what it had set up. */
  released: boolean;
}

/** Where a launch id belongs. */
export interface ProcessPlace {
  readonly epochId: EpochId;
  readonly rank: number;
}

export interface RunnerState {
  readonly epochs: Map<EpochId, Epoch>;
  readonly byTask: Map<TaskId, Set<EpochId>>;
  readonly byLaunch: Map<number, ProcessPlace>;
  /**
   * Epochs that must never start (again) here, with the life of the head that gave each (null: not
   * known), oldest first; bounded by FINISHED_MAX.
   */
  readonly finished: Map<EpochId, LifeId | null>;
  /** How the newest of them ended, as it was told; bounded by ENDS_MAX. */
  readonly ends: Map<EpochId, EndReport>;
  /** Not acknowledged, by serial, in order. */
  readonly reports: Map<number, Report>;
  nextReport: number;
  nextLaunchId: number;
  /** Monotonic time at which the newest acknowledged heartbeat was sent; null before the first. */
  heardAt: number | null;
  killGraceMs: number;
  readonly pauses: Pauses;
  /** The newest that any head has said of itself; null before the first. */
  stamp: Stamp | null;
}

/**
 * Ended epochs remembered against a late launch order. An order can only be late within one
 * session, which is ordered, so this is far more than the orders that can be in flight; a head that
 * was put back may ask for older ones.
 */
export const FINISHED_MAX = 20_000;
/** Ends remembered for a head that was put back: some hours of a busy node, in about a megabyte. */
export const ENDS_MAX = 2_000;
/** KILL is repeated: a process may have forked between the scan and the signal. */
export const KILL_AGAIN_MS = 2_000;
/** Between TERM and KILL until a head has said otherwise. */
export const KILL_GRACE_MS = 10_000;

export function emptyState(): RunnerState {
  return {
    epochs: new Map(),
    byTask: new Map(),
    byLaunch: new Map(),
    finished: new Map(),
    ends: new Map(),
    reports: new Map(),
    nextReport: 1,
    nextLaunchId: 1,
    heardAt: null,
    killGraceMs: KILL_GRACE_MS,
    pauses: { ...NO_PAUSES },
    stamp: null,
  };
}

/** An accepted epoch of which nothing has happened yet. */
export function newEpoch(order: LaunchOrder, phase: 'waiting' | 'accepted'): Epoch {
  return {
    order,
    taskId: formatTaskId(order.place.jobId, order.place.index),
    phase,
    preparation: null,
    processes: [],
    startedAt: null,
    runningMs: 0,
    runningSince: null,
    suspendWanted: null,
    suspendTurns: 0,
    turnHeard: 0,
    turnTold: 0,
    suspended: false,
    paused: false,
    ending: null,
    failure: null,
    signalSerial: 0,
    warned: false,
    usage: { userUs: 0, systemUs: 0, memoryPeakBytes: 0 },
    end: null,
    acknowledged: false,
    released: false,
  };
}

/** Still to come or alive: neither exited nor failed nor lost. */
export function isOpen(process: Process): boolean {
  return process.state === 'requested' || isLive(process);
}

/** Known to exist now. */
export function isLive(process: Process): boolean {
  return process.state === 'running' || process.state === 'stopped';
}

/** Somebody else than the task itself wants it to stand still. */
export function isHeldStill({ paused, suspendWanted }: Epoch): boolean {
  return paused || suspendWanted === true;
}

/** Its node is being made ready for its batch: the clock of its own time limit has not begun. */
export function isBuilding({ order, built }: Epoch): boolean {
  return order.batch?.buildMs !== undefined && built !== true;
}

/** From now on its time limit does not come nearer. */
export function pauseWalltime(epoch: Epoch, monotonic: number): void {
  if (epoch.runningSince !== null) epoch.runningMs += monotonic - epoch.runningSince;
  epoch.runningSince = null;
}

/**
 * An instant of an epoch as it is told: as long after its start as it was, however the wall clock has
 * been set since.
 */
export function instantOf({ bootedAt }: Epoch, now: Now): number {
  if (bootedAt === undefined || now.bootedAt === undefined) return now.at;
  const setByMs = now.bootedAt - bootedAt;
  return Math.abs(setByMs) < CLOCK_STEP_MIN_MS ? now.at : now.at - setByMs;
}

/** When it began, as it is told; its time limit counts from when that was heard. Null: it has not. */
export function beginOf({ startedAt, begunMs = 0 }: Epoch): number | null {
  return startedAt === null ? null : startedAt - begunMs;
}

/** Running time up to now, without suspended time. */
export function elapsedMs(epoch: Epoch, now: Now): number {
  if (epoch.runningSince === null) return epoch.runningMs;
  return epoch.runningMs + (now.monotonic - epoch.runningSince);
}
