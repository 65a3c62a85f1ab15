// What an agent knows of its part of one epoch: a union by phase, so that no field is there before
// its phase has come. Plain data; apply.ts and transitions.ts change it, and nobody else.

import type { EpochId, TaskId } from '../model/ids.ts';
import { type ExitStatus, NO_USAGE, type Usage } from '../model/job.ts';
import { CLOCK_STEP_MIN_MS } from '../model/limits.ts';
import type { EndCause, EndReport, LaunchOrder } from '../model/orders.ts';
import type { EndThere } from '../model/processes.ts';

/** Both clocks of one instant: wall for people and reports, monotonic for every time-out. */
export interface Now {
  /** Ms since 1970. */
  readonly at: number;
  /** Ms since the machine started, so that it survives a restart of the agent. */
  readonly monotonic: number;
  /** The wall clock at the machine's start: it changes when somebody sets it. Absent: unknown. */
  readonly bootedAt?: number;
}

interface AnyEpoch {
  readonly order: LaunchOrder;
  readonly taskId: TaskId;
  /** The last order to stop or to go on that has not shown yet or still holds; null: none. */
  wanted: 'suspend' | 'resume' | null;
  /** Counts those orders, so that each is carried out once. */
  suspendTurns: number;
  /** Turn of the newest such order, as the head counts them; 0 before the first. */
  turnHeard: number;
  /** The node is paused: the epoch stands still whatever `wanted` says. */
  paused: boolean;
  /** The head has an end under this id: mostly its own, else of a start with the same id (S13). */
  acknowledged: boolean;
}

/** `waiting`: for an older epoch of the task, or for a place. `accepted`: to be prepared. */
export interface Queued extends AnyEpoch {
  readonly phase: 'waiting' | 'accepted';
  readonly run: null;
  /** Monotonic: without a place of its job by then it is given back. Absent: it has its own. */
  readonly nextUntil?: number;
}

/** Starts were asked for. */
export interface Launching extends AnyEpoch {
  readonly phase: 'launching';
  readonly run: Run;
}

/** All processes have started. */
export interface Running extends AnyEpoch {
  readonly phase: 'running';
  readonly run: Run;
}

/** The main processes are gone and leftovers are being killed. */
export interface Sweeping extends AnyEpoch {
  readonly phase: 'sweeping';
  readonly run: Run;
}

/** Nothing of it lives, and files that it leaves are being kept. */
export interface Storing extends AnyEpoch {
  readonly phase: 'storing';
  readonly run: Run;
  /** How it ended, to be told when its files are kept. */
  readonly end: EndReport;
  /** Monotonic: what is not kept by then is given up. Absent: no limit. */
  storeUntil?: number;
}

/** Here until the head and the log shipper let go. */
export interface Ended extends AnyEpoch {
  readonly phase: 'ended';
  /** Null when it ended before its processes were asked for. */
  readonly run: Run | null;
  /** What was told of it, should a head that lost it ask again. Absent: an older agent ended it. */
  readonly told?: EndReport;
  /** The shell has shipped the output and removed what it had set up. */
  released: boolean;
}

export type Epoch = Queued | Launching | Running | Sweeping | Storing | Ended;
export type Phase = Epoch['phase'];

/** The processes of an epoch and what came with them: one object from launching to the end. */
export interface Run {
  readonly preparation: Preparation;
  /** By rank; never empty. */
  readonly processes: Process[];
  /** When the first process started; null: none has. */
  start: Start | null;
  /** Running time before `runningSince`, without suspended time. */
  runningMs: number;
  /** Monotonic; null while nothing runs or everything is stopped. */
  runningSince: number | null;
  suspended: boolean;
  /** Turn of the last report of a stop or a go; 0 before the first. */
  turnTold: number;
  ending: Termination | null;
  failure: Failure | null;
  /** The words with which the site's user who began the job ended it there. Absent: nobody did. */
  cancelledThere?: string;
  /** What its site says of an end that nobody can tell. Absent: nothing. */
  lostWhy?: string;
  /** Serial of the last signal order. */
  signalSerial: number;
  /** The solver of its batch is there, where its order leaves time for that. */
  built: boolean;
  /** The signal before the time limit has been sent. */
  warned: boolean;
  usage: Usage;
}

export interface Start {
  /** Ms since 1970. */
  readonly at: number;
  /** How long before that it had begun, as the site or launcher says. Absent: it began then. */
  readonly begunMs?: number;
  /** `Now.bootedAt` then. Absent: not known, or it was before the machine was started anew. */
  readonly bootedAt?: number;
}

/** `requested`: of the launcher. `failed`: it never began. `lost`: its end is not known. */
export type Process =
  | {
      readonly launchId: number;
      readonly state: 'requested' | 'running' | 'stopped' | 'failed' | 'lost';
    }
  | {
      readonly launchId: number;
      readonly state: 'exited';
      readonly exit: ExitStatus;
      /** Ms since 1970. */
      readonly endedAt: number;
    };

/** Causes that the agent itself can bring about while processes live. */
export type EndingCause = Extract<
  EndCause,
  'ended' | 'timeout' | 'out_of_memory' | 'lease_expired' | 'launch_failed'
>;

/** The processes are being ended: TERM was sent at `at`, KILL follows at `killAt`. */
export interface Termination {
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

/** An epoch that an order may still change: nothing ends it, and its processes are not gone. */
export type GoingOn = Queued | Launching | Running;

export function isGoingOn(epoch: Epoch): epoch is GoingOn {
  const { phase, run } = epoch;
  if (phase === 'sweeping' || phase === 'storing' || phase === 'ended') return false;
  return endingOf({ run }) === null;
}

/** True when processes were asked for, and some of them are still open. */
export function isLaunched(epoch: Epoch): epoch is Launching | Running {
  return epoch.phase === 'launching' || epoch.phase === 'running';
}

/** By rank; empty until launching. */
export function processesOf({ run }: Pick<Epoch, 'run'>): readonly Process[] {
  return run?.processes ?? [];
}

export function endingOf({ run }: Pick<Epoch, 'run'>): Termination | null {
  return run?.ending ?? null;
}

export function exitOf(process: Process): ExitStatus | null {
  return process.state === 'exited' ? process.exit : null;
}

export function endedAtOf(process: Process): number | null {
  return process.state === 'exited' ? process.endedAt : null;
}

export function usageOf({ run }: Pick<Epoch, 'run'>): Usage {
  return run?.usage ?? NO_USAGE;
}

/** How it ended, as it was told; undefined: it has not ended, or that was not kept. */
export function toldOf(epoch: Epoch): EndReport | undefined {
  return epoch.phase === 'ended' ? epoch.told : undefined;
}

/** True while it has no place here of its own, and waits for one of its job's. */
export function isNext({ phase, order }: Epoch): boolean {
  return phase === 'waiting' && order.next === true;
}

/** The shell is through with it. */
export function isReleased(epoch: Epoch): boolean {
  return epoch.phase === 'ended' && epoch.released;
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
export function isHeldStill({ paused, wanted }: Pick<Epoch, 'paused' | 'wanted'>): boolean {
  return paused || wanted === 'suspend';
}

/** True while the node is made ready for the batch: the task's time limit has not begun. */
export function isBuilding({ order, run }: Epoch): boolean {
  return order.batch?.buildMs !== undefined && run?.built !== true;
}

/** The machine has started anew: its clocks cannot be compared with those of the start. */
export function forgetBoot(run: Run): void {
  if (run.start === null) return;
  const { bootedAt: _, ...start } = run.start;
  run.start = start;
}

/** From now on its time limit does not come nearer. */
export function pauseWalltime(run: Run, monotonic: number): void {
  if (run.runningSince !== null) run.runningMs += monotonic - run.runningSince;
  run.runningSince = null;
}

/** An epoch's instant as told: as long after its start as it was, however clocks were set since. */
export function instantOf({ run }: Pick<Epoch, 'run'>, now: Now): number {
  const bootedAt = run?.start?.bootedAt;
  if (bootedAt === undefined || now.bootedAt === undefined) return now.at;
  const setByMs = now.bootedAt - bootedAt;
  return Math.abs(setByMs) < CLOCK_STEP_MIN_MS ? now.at : now.at - setByMs;
}

/** When it began, as told; its time limit counts from when that was heard. Null: it has not. */
export function beginOf({ run }: Pick<Epoch, 'run'>): number | null {
  const start = run?.start ?? null;
  return start === null ? null : start.at - (start.begunMs ?? 0);
}

/** Running time up to now, without suspended time. */
export function elapsedMs({ run }: Pick<Epoch, 'run'>, now: Now): number {
  if (run === null) return 0;
  if (run.runningSince === null) return run.runningMs;
  return run.runningMs + (now.monotonic - run.runningSince);
}

/** Where a launch id belongs. */
export interface ProcessPlace {
  readonly epochId: EpochId;
  readonly rank: number;
}
