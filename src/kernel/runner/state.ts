// What an agent knows: its parts of epochs, its reports and its pauses. Plain data; only apply.ts
// changes it.

import type { EpochId, JobId, TaskId } from '../model/ids.ts';
import type { LifeId, Stamp } from '../model/life.ts';
import type { EndReport, Report } from '../model/orders.ts';
import type { Epoch, ProcessPlace } from './epoch.ts';
import { NO_PAUSES, type Pauses } from './pause/state.ts';

export interface RunnerState {
  readonly epochs: Map<EpochId, Epoch>;
  readonly byTask: Map<TaskId, Set<EpochId>>;
  readonly byLaunch: Map<number, ProcessPlace>;
  /** What waits for a place of its job (`LaunchOrder.next`), in the order in which it came. */
  readonly nextOf: Map<JobId, Set<EpochId>>;
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
    nextOf: new Map(),
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
