// Events → state. The same code live and from the journal; reads no clock and decides nothing.

import { assert, present, unreachable } from '../base/assert.ts';
import type { EpochId } from '../model/ids.ts';
import { applyProcess } from './apply-process.ts';
import { addEpoch, addFinished, addReport, applyRestored, epochOf } from './books.ts';
import type { RunnerEvent } from './events.ts';
import { endOfNothing } from './finished.ts';
import { applyPause } from './pause/apply.ts';
import {
  beginOf,
  type Epoch,
  elapsedMs,
  instantOf,
  isHeldStill,
  isOpen,
  newEpoch,
  pauseWalltime,
  type RunnerState,
} from './state.ts';

type EventOf<Kind extends RunnerEvent['kind']> = Extract<RunnerEvent, { kind: Kind }>;

/** Brings the state up to date with these events, in order. */
export function apply(state: RunnerState, events: readonly RunnerEvent[]): void {
  for (const event of events) applyOne(state, event);
}

function applyOne(state: RunnerState, event: RunnerEvent): void {
  switch (event.kind) {
    case 'epoch_accepted':
      addEpoch(state, newEpoch(event.order, event.waits ? 'waiting' : 'accepted'));
      return;
    case 'epoch_launching':
      applyLaunching(state, event);
      return;
    case 'epoch_running':
      applyRunning(state, event);
      return;
    case 'process_started':
    case 'process_failed':
    case 'process_exited':
    case 'process_stopped':
    case 'process_continued':
    case 'process_lost':
      applyProcess(state, event);
      return;
    case 'epoch_suspended':
    case 'epoch_resumed':
      applySuspension(state, event);
      return;
    case 'build_over':
      applyBuilt(state, event);
      return;
    case 'storing_begun':
      applyStoring(state, event);
      return;
    case 'epoch_ended':
      applyEnded(state, event);
      return;
    case 'epoch_refused':
      applyRefused(state, event);
      return;
    case 'end_repeated':
      addReport(state, event.report);
      return;
    case 'reports_acknowledged':
      applyAcknowledged(state, event.upTo);
      return;
    case 'epoch_released':
      applyReleased(state, event.epochId);
      return;
    case 'heard':
      state.heardAt = event.sentAt;
      return;
    case 'stamped':
      state.stamp = event.stamp;
      return;
    case 'kill_grace_set':
      state.killGraceMs = event.graceMs;
      return;
    case 'launch_ids_used':
      state.nextLaunchId = Math.max(state.nextLaunchId, event.upTo + 1);
      return;
    case 'pause_set':
    case 'yield_set':
    case 'pause_rebased':
      applyPause(state, event);
      return;
    case 'state_restored':
      applyRestored(state, event.sum);
      return;
    default:
      applyWish(epochOf(state, event.epochId), event);
      return;
  }
}

/** Events that only change fields of their epoch. */
function applyWish(
  epoch: Epoch,
  event: EventOf<
    | 'epoch_unblocked'
    | 'suspend_wanted'
    | 'resume_wanted'
    | 'signal_wanted'
    | 'warning_due'
    | 'ending_begun'
    | 'ending_hastened'
    | 'kill_due'
    | 'let_go'
    | 'sweep_begun'
    | 'storing_hastened'
  >,
): void {
  switch (event.kind) {
    case 'epoch_unblocked':
      epoch.phase = 'accepted';
      return;
    case 'suspend_wanted':
    case 'resume_wanted':
      epoch.suspendWanted = event.kind === 'suspend_wanted';
      epoch.suspendTurns += 1;
      epoch.turnHeard = event.turn;
      return;
    case 'signal_wanted':
      epoch.signalSerial = event.serial;
      return;
    case 'warning_due':
      epoch.warned = true;
      return;
    case 'ending_begun': {
      const { cause, why, discards = false, at, killAt } = event;
      epoch.ending = { cause, why, discards, at, killAt, kills: 0 };
      return;
    }
    case 'ending_hastened':
      present(epoch.ending, 'the ending').killAt = event.killAt;
      return;
    case 'kill_due': {
      const ending = present(epoch.ending, 'the ending');
      ending.kills += 1;
      ending.killAt = event.killAt;
      return;
    }
    case 'let_go':
      for (const process of epoch.processes.filter(isOpen)) process.state = 'lost';
      return;
    case 'sweep_begun':
      epoch.phase = 'sweeping';
      return;
    case 'storing_hastened':
      epoch.storeUntil = event.storeUntil;
      return;
    default:
      unreachable(event);
  }
}

function applyLaunching(state: RunnerState, event: EventOf<'epoch_launching'>): void {
  const epoch = epochOf(state, event.epochId);
  epoch.phase = 'launching';
  epoch.preparation = event.preparation;
  for (let rank = 0; rank < epoch.order.processesPerNode; rank += 1) {
    const launchId = event.firstLaunchId + rank;
    epoch.processes.push({ launchId, state: 'requested', exit: null, endedAt: null });
    state.byLaunch.set(launchId, { epochId: event.epochId, rank });
  }
  state.nextLaunchId = event.firstLaunchId + epoch.order.processesPerNode;
}

function applyRunning(state: RunnerState, event: EventOf<'epoch_running'>): void {
  const epoch = epochOf(state, event.epochId);
  epoch.phase = 'running';
  const at = epoch.startedAt ?? event.at;
  const limits = epoch.preparation?.limits ?? 'none';
  const late = event.agoMs === undefined ? {} : { agoMs: event.agoMs };
  if (event.agoMs !== undefined) epoch.begunMs = event.agoMs;
  addReport(state, { kind: 'task_started', epochId: event.epochId, at, limits, ...late });
}

/**
 * The walltime clock stands still while everything is stopped by order. A task that stops itself is
 * shown as suspended but goes on using up its time: it could otherwise hold a node for ever.
 */
function applySuspension(
  state: RunnerState,
  event: EventOf<'epoch_suspended' | 'epoch_resumed'>,
): void {
  const epoch = epochOf(state, event.epochId);
  const { epochId, monotonic } = event;
  const at = instantOf(epoch, event);
  epoch.suspended = event.kind === 'epoch_suspended';
  epoch.turnTold += 1;
  const turn = epoch.turnTold;
  if (epoch.suspended) {
    if (isHeldStill(epoch)) pauseWalltime(epoch, monotonic);
    addReport(state, { kind: 'task_suspended', epochId, at, turn });
  } else {
    epoch.runningSince ??= monotonic;
    addReport(state, { kind: 'task_resumed', epochId, at, turn });
  }
}

function applyBuilt(state: RunnerState, event: EventOf<'build_over'>): void {
  const { epochId, at, monotonic, tookMs } = event;
  const epoch = epochOf(state, epochId);
  epoch.runningMs = elapsedMs(epoch, event) - tookMs;
  if (epoch.runningSince !== null) epoch.runningSince = monotonic;
  epoch.built = true;
  addReport(state, { kind: 'task_built', epochId, at, tookMs });
}

function applyStoring(state: RunnerState, event: EventOf<'storing_begun'>): void {
  const { epochId, at, report } = event;
  const epoch = epochOf(state, epochId);
  epoch.phase = 'storing';
  epoch.end = report;
  epoch.runningSince = null;
  addReport(state, { kind: 'task_storing', epochId, at });
}

function applyEnded(state: RunnerState, event: EventOf<'epoch_ended'>): void {
  const epoch = epochOf(state, event.epochId);
  assert(!epoch.processes.some(isOpen), `epoch ${event.epochId} ends after its processes`);
  epoch.phase = 'ended';
  epoch.end = null;
  // A head that lost this end may have lost the start as well.
  const startedAt = beginOf(epoch);
  epoch.told = startedAt === null ? event.report : { ...event.report, startedAt };
  delete epoch.storeUntil;
  epoch.runningSince = null;
  addReport(state, event.report);
}

function applyRefused(state: RunnerState, event: EventOf<'epoch_refused'>): void {
  const { epochId, life, at, why } = event;
  const end = endOfNothing(epochId, { at, cause: 'never_started', detail: why });
  addReport(state, end);
  addFinished(state, epochId, { life, end });
}

function applyAcknowledged(state: RunnerState, upTo: number): void {
  for (const [serial, report] of state.reports) {
    if (serial > upTo) return;
    state.reports.delete(serial);
    const epoch = report.kind === 'task_ended' ? state.epochs.get(report.epochId) : undefined;
    if (epoch === undefined) continue;
    epoch.acknowledged = true;
    forgetWhenDone(state, epoch);
  }
}

function applyReleased(state: RunnerState, epochId: EpochId): void {
  const epoch = epochOf(state, epochId);
  epoch.released = true;
  forgetWhenDone(state, epoch);
}

function forgetWhenDone(state: RunnerState, epoch: Epoch): void {
  if (!epoch.acknowledged || !epoch.released) return;
  const epochId = epoch.order.epochId;
  state.epochs.delete(epochId);
  const siblings = state.byTask.get(epoch.taskId);
  siblings?.delete(epochId);
  if (siblings?.size === 0) state.byTask.delete(epoch.taskId);
  for (const { launchId } of epoch.processes) state.byLaunch.delete(launchId);
  const { life } = epoch.order;
  addFinished(state, epochId, { life, end: epoch.told });
}
