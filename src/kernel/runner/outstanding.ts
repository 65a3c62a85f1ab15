// What the shell must do and say, derived from the state alone. The shell does each effect once per
// key and life; after a restart it does them again, which is harmless.

import type { EpochId } from '../model/ids.ts';
import type { SignalTo } from '../model/job.ts';
import type { Report } from '../model/orders.ts';
import { type Epoch, isHeldStill, isOpen, type Launching, type Running } from './epoch.ts';
import type { RunnerState } from './state.ts';

export interface Effect {
  readonly kind: 'prepare' | 'start' | 'signal' | 'sweep' | 'store' | 'release';
  readonly epochId: EpochId;
  /** Another key means another thing to do. */
  readonly key: string;
  /** Signal numbers in order; only of `signal`. */
  readonly signals?: readonly number[];
  /** Somebody sends them to the processes, for what these make of it. */
  readonly asked?: true;
  /** Absent: to all processes. */
  readonly to?: SignalTo;
  /** The effect only ends processes: done twice it does no harm, and it may be done unrecorded. */
  readonly ends?: true;
}

const SIGKILL = 9;
const SIGTERM = 15;
const SIGCONT = 18;
const SIGSTOP = 19;

/** The one thing to be done for this epoch now, or null. */
export function outstandingOf(epoch: Epoch): Effect | null {
  const epochId = epoch.order.epochId;
  switch (epoch.phase) {
    case 'waiting':
      return null;
    case 'accepted':
      return { kind: 'prepare', epochId, key: 'prepare' };
    case 'launching':
    case 'running':
      return signalsOf(epoch) ?? startOf(epoch);
    case 'sweeping':
      return { kind: 'sweep', epochId, key: 'sweep' };
    case 'storing':
      return { kind: 'store', epochId, key: 'store' };
    default:
      return epoch.released ? null : { kind: 'release', epochId, key: 'release' };
  }
}

/** Not derived from `ending`: what was asked of the launcher is asked whatever comes after. */
function startOf(epoch: Launching | Running): Effect | null {
  if (epoch.phase !== 'launching') return null;
  return { kind: 'start', epochId: epoch.order.epochId, key: 'start' };
}

function signalsOf(epoch: Launching | Running): Effect | null {
  const { epochId } = epoch.order;
  const { processes, ending } = epoch.run;
  if (!processes.some(isOpen)) return null;
  if (ending !== null) {
    // One whose start hangs is open, though nobody has heard of it. One that starts while the
    // others are being ended must hear of it too. CONT, because a
    // stopped process would sleep through TERM.
    const started = processes.filter((process) => process.state !== 'requested').length;
    const { kills } = ending;
    const signals = kills > 0 ? [SIGKILL, SIGCONT] : [SIGTERM, SIGCONT];
    return { kind: 'signal', epochId, key: `end#${kills}#${started}`, signals, ends: true };
  }
  if (epoch.phase !== 'running' || !(epoch.paused || epoch.wanted !== null)) return null;
  const signals = [isHeldStill(epoch) ? SIGSTOP : SIGCONT];
  return { kind: 'signal', epochId, key: `turn#${epoch.suspendTurns}`, signals };
}

/** Everything to do and to say, for an agent that has just read its journal. */
export function outstanding(state: RunnerState): { effects: Effect[]; reports: Report[] } {
  const effects: Effect[] = [];
  for (const epoch of state.epochs.values()) {
    const effect = outstandingOf(epoch);
    if (effect !== null) effects.push(effect);
  }
  return { effects, reports: [...state.reports.values()] };
}
