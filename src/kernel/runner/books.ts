// The books of the runner's state: adding epochs, reports and finished ids, keeping every index in
// step; and the whole state as one value.

import { assert, present } from '../base/assert.ts';
import type { EpochId } from '../model/ids.ts';
import type { LifeId } from '../model/life.ts';
import type { EndReport, HeldEpoch, Report } from '../model/orders.ts';
import { beginOf, type Epoch, isNext, processesOf, type Run } from './epoch.ts';
import type { StateSum } from './events.ts';
import { ENDS_MAX, FINISHED_MAX, type RunnerState } from './state.ts';
import { fromStored, toStored } from './stored.ts';

/** An epoch that an event names; there must be one. */
export function epochOf(state: RunnerState, epochId: EpochId): Epoch {
  return present(state.epochs.get(epochId), `epoch ${epochId}`);
}

/** What runs, or ran, of an epoch that an event names; its processes must have been asked for. */
export function runOf(state: RunnerState, epochId: EpochId): Run {
  return present(epochOf(state, epochId).run, `processes of epoch ${epochId}`);
}

/** Puts an epoch in its next phase in the place of what it was. */
export function advance(state: RunnerState, epoch: Epoch): void {
  state.epochs.set(epoch.order.epochId, epoch);
  if (epoch.order.next !== true) return;
  if (isNext(epoch)) noteNext(state, epoch);
  else noLongerNext(state, epoch);
}

function noteNext({ nextOf }: RunnerState, { order }: Epoch): void {
  const waiting = nextOf.get(order.place.jobId);
  if (waiting === undefined) nextOf.set(order.place.jobId, new Set([order.epochId]));
  else waiting.add(order.epochId);
}

/** Takes it off the list: it waits for no place of its job any more. */
export function noLongerNext({ nextOf }: RunnerState, { order }: Epoch): void {
  const waiting = nextOf.get(order.place.jobId);
  if (waiting?.delete(order.epochId) === true && waiting.size === 0) {
    nextOf.delete(order.place.jobId);
  }
}

/** Files a new epoch under its id, its task and its launch ids. */
export function addEpoch(state: RunnerState, epoch: Epoch): void {
  const epochId = epoch.order.epochId;
  assert(!state.epochs.has(epochId), `epoch ${epochId} is new`);
  advance(state, epoch);
  // Another life of the head has given its number out once more.
  state.finished.delete(epochId);
  state.ends.delete(epochId);
  const siblings = state.byTask.get(epoch.taskId);
  if (siblings === undefined) state.byTask.set(epoch.taskId, new Set([epochId]));
  else siblings.add(epochId);
  processesOf(epoch).forEach(({ launchId }, rank) => {
    state.byLaunch.set(launchId, { epochId, rank });
  });
}

/** What the head is to know of at a hello: everything that it has not yet heard the end of. */
export function heldEpochs(state: RunnerState, at: number): HeldEpoch[] {
  const held: HeldEpoch[] = [];
  const turns = turnsUnderWay(state);
  for (const epoch of state.epochs.values()) {
    if (epoch.acknowledged) continue;
    const { epochId, place, epoch: number, life, share } = epoch.order;
    const given = life === undefined ? {} : { life };
    held.push({
      epochId,
      place,
      epoch: number,
      ...given,
      share,
      ...(isNext(epoch) ? { isNext: true } : {}),
      ...standsOf(epoch, { at, turns }),
    });
  }
  return held;
}

/** Empty: the head has not been told that it started. */
function standsOf(
  epoch: Epoch,
  { at, turns }: { readonly at: number; readonly turns: ReadonlyMap<EpochId, number> },
): Pick<HeldEpoch, 'stands'> {
  const { order, phase, turnHeard, run } = epoch;
  const startedAt = beginOf(epoch);
  if (run === null || startedAt === null || phase === 'launching') return {};
  if (phase === 'ended' && epoch.told?.cause === 'launch_failed') return {};
  const { turnTold, suspended } = run;
  const storing = phase === 'storing';
  const turnedAt = turns.get(order.epochId);
  const turned = { turnHeard, turnTold, ...(turnedAt === undefined ? {} : { turnedAt }) };
  return { stands: { at, startedAt, ...turned, suspended, storing } };
}

/** When the newest stop or go was of which the head has not heard yet, by epoch. */
function turnsUnderWay({ reports }: RunnerState): Map<EpochId, number> {
  const turns = new Map<EpochId, number>();
  for (const report of reports.values()) {
    const { kind, at } = report;
    if (kind === 'task_suspended' || kind === 'task_resumed') turns.set(report.epochId, at);
  }
  return turns;
}

/** Queues a report for the head under the next serial. */
export function addReport(state: RunnerState, report: Report): void {
  state.reports.set(state.nextReport, report);
  state.nextReport += 1;
}

/**
 * Serial of the first report that the head has not acknowledged; of the next one if there is none.
 * Their numbers have no gaps. By a walk of the map each look would pass all that went before.
 */
export function oldestReport({ reports, nextReport }: RunnerState): number {
  return nextReport - reports.size;
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
    epochs: [...state.epochs.values()].map(toStored),
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
  for (const epoch of sum.epochs) addEpoch(state, fromStored(epoch));
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
