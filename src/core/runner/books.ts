// The books of the runner's state: adding epochs, reports and finished ids, keeping every index in
// step; and the whole state as one value.

import { assert, present } from '../base/assert.ts';
import type { EpochId } from '../model/ids.ts';
import type { LifeId } from '../model/life.ts';
import type { EndReport, Report } from '../model/orders.ts';
import type { StateSum } from './events.ts';
import { ENDS_MAX, type Epoch, FINISHED_MAX, type RunnerState } from './state.ts';

/** An epoch that an event names; there must be one. */
export function epochOf(state: RunnerState, epochId: EpochId): Epoch {
  return present(state.epochs.get(epochId), `epoch ${epochId}`);
}

/** Files a new epoch under its id, its task and its launch ids. */
export function addEpoch(state: RunnerState, epoch: Epoch): void {
  const epochId = epoch.order.epochId;
  assert(!state.epochs.has(epochId), `epoch ${epochId} is new`);
  state.epochs.set(epochId, epoch);
  // Another life of the head has given its number out once more.
  state.finished.delete(epochId);
  state.ends.delete(epochId);
  const siblings = state.byTask.get(epoch.taskId);
  if (siblings === undefined) state.byTask.set(epoch.taskId, new Set([epochId]));
  else siblings.add(epochId);
  epoch.processes.forEach(({ launchId }, rank) => {
    state.byLaunch.set(launchId, { epochId, rank });
  });
}

/** Queues a report for the head under the next serial. */
export function addReport(state: RunnerState, report: Report): void {
  state.reports.set(state.nextReport, report);
  state.nextReport += 1;
}

/** Bars an epoch from ever starting here; the oldest are let go beyond the bound. */
export function addFinished(
  state: RunnerState,
  epochId: EpochId,
  { life, end }: { readonly life: LifeId | undefined; readonly end: EndReport | undefined },
): void {
  state.finished.set(epochId, life ?? null);
  letOldestGo(state.finished, FINISHED_MAX);
  if (end === undefined) return;
  state.ends.set(epochId, end);
  letOldestGo(state.ends, ENDS_MAX);
}

function letOldestGo(map: Map<EpochId, unknown>, max: number): void {
  if (map.size <= max) return;
  const oldest = map.keys().next();
  if (oldest.done !== true) map.delete(oldest.value);
}

/** The state as one value; the opposite of applying `state_restored`. */
export function sumOf(state: RunnerState): StateSum {
  const { nextReport, nextLaunchId, heardAt, killGraceMs, pauses, stamp } = state;
  return {
    epochs: [...state.epochs.values()],
    finished: [...state.finished.keys()],
    lives: [...state.finished].filter(([, life]) => life !== null),
    ends: [...state.ends],
    reports: [...state.reports],
    nextReport,
    nextLaunchId,
    heardAt,
    killGraceMs,
    pauses,
    ...(stamp === null ? {} : { stamp }),
  };
}

/** Fills an empty state from its sum. */
export function applyRestored(state: RunnerState, sum: StateSum): void {
  assert(state.epochs.size === 0, 'a restored state is the first');
  for (const epoch of sum.epochs) addEpoch(state, { ...epoch });
  for (const epochId of sum.finished) state.finished.set(epochId, null);
  for (const [epochId, life] of sum.lives ?? []) state.finished.set(epochId, life);
  for (const [epochId, end] of sum.ends ?? []) state.ends.set(epochId, end);
  for (const [serial, report] of sum.reports) state.reports.set(serial, report);
  state.nextReport = sum.nextReport;
  state.nextLaunchId = sum.nextLaunchId;
  state.heardAt = sum.heardAt;
  state.killGraceMs = sum.killGraceMs;
  Object.assign(state.pauses, sum.pauses);
  state.stamp = sum.stamp ?? null;
}
