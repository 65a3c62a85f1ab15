// An epoch as journals keep it: one flat value, of which each phase uses a part. Agents of every
// release read and write this form; in memory an epoch is a union by phase (epoch.ts).

import { present } from '../base/assert.ts';
import type { TaskId } from '../model/ids.ts';
import type { ExitStatus, Usage } from '../model/job.ts';
import type { EndReport, LaunchOrder } from '../model/orders.ts';
import {
  type Epoch,
  type Failure,
  type Phase,
  type Preparation,
  type Process,
  processesOf,
  type Run,
  type Termination,
  usageOf,
} from './epoch.ts';

export interface StoredEpoch {
  readonly order: LaunchOrder;
  readonly taskId: TaskId;
  readonly phase: Phase;
  readonly preparation: Preparation | null;
  readonly processes: readonly StoredProcess[];
  readonly startedAt: number | null;
  readonly begunMs?: number;
  readonly bootedAt?: number;
  readonly runningMs: number;
  readonly runningSince: number | null;
  /** True: a suspend order; false: a resume order. */
  readonly suspendWanted: boolean | null;
  readonly suspendTurns: number;
  readonly turnHeard: number;
  readonly turnTold: number;
  readonly suspended: boolean;
  readonly paused: boolean;
  readonly ending: Termination | null;
  readonly failure: Failure | null;
  readonly cancelledThere?: string;
  readonly lostWhy?: string;
  readonly signalSerial: number;
  readonly built?: true;
  readonly warned: boolean;
  readonly usage: Usage;
  /** Only of `storing`. */
  readonly end: EndReport | null;
  /** Only of `ended`. */
  readonly told?: EndReport;
  /** Only of `storing`. */
  readonly storeUntil?: number;
  /** Only of `waiting`. */
  readonly nextUntil?: number;
  readonly acknowledged: boolean;
  readonly released: boolean;
}

interface StoredProcess {
  readonly launchId: number;
  readonly state: Process['state'];
  /** Only of `exited`. */
  readonly exit: ExitStatus | null;
  /** Only of `exited`. */
  readonly endedAt: number | null;
}

export function toStored(epoch: Epoch): StoredEpoch {
  const { order, taskId, phase, run, wanted } = epoch;
  return {
    order,
    taskId,
    phase,
    preparation: run?.preparation ?? null,
    processes: processesOf(epoch).map(toStoredProcess),
    ...startToStored(run),
    runningMs: run?.runningMs ?? 0,
    runningSince: run?.runningSince ?? null,
    suspendWanted: wanted === null ? null : wanted === 'suspend',
    suspendTurns: epoch.suspendTurns,
    turnHeard: epoch.turnHeard,
    turnTold: run?.turnTold ?? 0,
    suspended: run?.suspended ?? false,
    paused: epoch.paused,
    ending: run === null || run.ending === null ? null : { ...run.ending },
    failure: run?.failure ?? null,
    ...(run?.cancelledThere === undefined ? {} : { cancelledThere: run.cancelledThere }),
    ...(run?.lostWhy === undefined ? {} : { lostWhy: run.lostWhy }),
    signalSerial: run?.signalSerial ?? 0,
    ...(run?.built === true ? { built: true } : {}),
    warned: run?.warned ?? false,
    usage: usageOf(epoch),
    end: epoch.phase === 'storing' ? epoch.end : null,
    ...(epoch.phase === 'ended' && epoch.told !== undefined ? { told: epoch.told } : {}),
    ...(epoch.phase === 'storing' && epoch.storeUntil !== undefined
      ? { storeUntil: epoch.storeUntil }
      : {}),
    ...(epoch.phase === 'waiting' && epoch.nextUntil !== undefined
      ? { nextUntil: epoch.nextUntil }
      : {}),
    acknowledged: epoch.acknowledged,
    released: epoch.phase === 'ended' && epoch.released,
  };
}

function startToStored(run: Run | null): Pick<StoredEpoch, 'startedAt' | 'begunMs' | 'bootedAt'> {
  const start = run?.start ?? null;
  if (start === null) return { startedAt: null };
  const { at: startedAt, ...rest } = start;
  return { startedAt, ...rest };
}

function toStoredProcess(process: Process): StoredProcess {
  const { launchId, state } = process;
  if (process.state !== 'exited') return { launchId, state, exit: null, endedAt: null };
  return { launchId, state, exit: process.exit, endedAt: process.endedAt };
}

/** Throws on a value in which a phase lacks what it needs: no agent has ever written one. */
export function fromStored(stored: StoredEpoch): Epoch {
  const { order, taskId, phase, suspendWanted, suspendTurns, turnHeard, paused } = stored;
  const wanted = wantedOf(suspendWanted);
  const { acknowledged, released, told, storeUntil, nextUntil } = stored;
  const common = { order, taskId, wanted, suspendTurns, turnHeard, paused, acknowledged };
  const run = runFromStored(stored);
  switch (phase) {
    case 'waiting':
      return { ...common, phase, run: null, ...(nextUntil === undefined ? {} : { nextUntil }) };
    case 'accepted':
      return { ...common, phase, run: null };
    case 'ended':
      return { ...common, phase, run, released, ...(told === undefined ? {} : { told }) };
    case 'storing': {
      const end = present(stored.end, `the end of epoch ${order.epochId}, which is being stored`);
      const limit = storeUntil === undefined ? {} : { storeUntil };
      return { ...common, phase, run: launched(run, stored), end, ...limit };
    }
    default:
      return { ...common, phase, run: launched(run, stored) };
  }
}

function launched(run: Run | null, { order, phase }: StoredEpoch): Run {
  return present(run, `processes of epoch ${order.epochId}, which is ${phase}`);
}

function wantedOf(suspendWanted: boolean | null): Epoch['wanted'] {
  if (suspendWanted === null) return null;
  return suspendWanted ? 'suspend' : 'resume';
}

/** Returns null when no process of it was asked for. */
function runFromStored(stored: StoredEpoch): Run | null {
  const { preparation, processes, cancelledThere, lostWhy, ending, built = false } = stored;
  if (preparation === null || processes.length === 0) return null;
  return {
    preparation,
    processes: processes.map(fromStoredProcess),
    start: startFromStored(stored),
    runningMs: stored.runningMs,
    runningSince: stored.runningSince,
    suspended: stored.suspended,
    turnTold: stored.turnTold,
    ending: ending === null ? null : { ...ending },
    failure: stored.failure,
    ...(cancelledThere === undefined ? {} : { cancelledThere }),
    ...(lostWhy === undefined ? {} : { lostWhy }),
    signalSerial: stored.signalSerial,
    built,
    warned: stored.warned,
    usage: stored.usage,
  };
}

function startFromStored({ startedAt, begunMs, bootedAt }: StoredEpoch): Run['start'] {
  if (startedAt === null) return null;
  return {
    at: startedAt,
    ...(begunMs === undefined ? {} : { begunMs }),
    ...(bootedAt === undefined ? {} : { bootedAt }),
  };
}

function fromStoredProcess({ launchId, state, exit, endedAt }: StoredProcess): Process {
  if (state !== 'exited') return { launchId, state };
  const what = `the exit of process ${launchId}`;
  return { launchId, state, exit: present(exit, what), endedAt: present(endedAt, what) };
}
