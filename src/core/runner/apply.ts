// Events → state. The same code live and from the journal; reads no clock and decides nothing.

import { assert, present, unreachable } from '../base/assert.ts';
import type { EpochId } from '../model/ids.ts';
import type { Report } from '../model/orders.ts';
import type { RunnerEvent, StateSum } from './events.ts';
import {
  type Epoch,
  FINISHED_MAX,
  isOpen,
  newEpoch,
  type Process,
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
    case 'epoch_ended':
      applyEnded(state, event);
      return;
    case 'epoch_refused':
      addReport(state, neverStarted(event));
      addFinished(state, event.epochId);
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
    case 'kill_grace_set':
      state.killGraceMs = event.graceMs;
      return;
    case 'launch_ids_used':
      state.nextLaunchId = Math.max(state.nextLaunchId, event.upTo + 1);
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
    | 'ending_begun'
    | 'ending_hastened'
    | 'kill_due'
    | 'sweep_begun'
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
      return;
    case 'signal_wanted':
      epoch.signalSerial = event.serial;
      return;
    case 'ending_begun': {
      const { cause, why, at, killAt } = event;
      epoch.ending = { cause, why, at, killAt, kills: 0 };
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
    case 'sweep_begun':
      epoch.phase = 'sweeping';
      return;
    default:
      unreachable(event);
  }
}

function epochOf(state: RunnerState, epochId: EpochId): Epoch {
  return present(state.epochs.get(epochId), `epoch ${epochId}`);
}

function addEpoch(state: RunnerState, epoch: Epoch): void {
  const epochId = epoch.order.epochId;
  assert(!state.epochs.has(epochId), `epoch ${epochId} is new`);
  state.epochs.set(epochId, epoch);
  const siblings = state.byTask.get(epoch.taskId);
  if (siblings === undefined) state.byTask.set(epoch.taskId, new Set([epochId]));
  else siblings.add(epochId);
  epoch.processes.forEach(({ launchId }, rank) => {
    state.byLaunch.set(launchId, { epochId, rank });
  });
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
  addReport(state, { kind: 'task_started', epochId: event.epochId, at, limits });
}

function applyProcess(
  state: RunnerState,
  event: EventOf<
    | 'process_started'
    | 'process_failed'
    | 'process_exited'
    | 'process_stopped'
    | 'process_continued'
    | 'process_lost'
  >,
): void {
  const epoch = epochOf(state, event.epochId);
  const process = present(epoch.processes[event.rank], `process ${event.rank}`);
  switch (event.kind) {
    case 'process_started':
      process.state = 'running';
      epoch.startedAt ??= event.at;
      epoch.runningSince ??= event.monotonic;
      return;
    case 'process_failed':
      process.state = 'failed';
      epoch.failure ??= event.failure;
      return;
    case 'process_exited':
      applyExited(epoch, process, event);
      return;
    case 'process_stopped':
      process.state = 'stopped';
      if (epoch.suspendWanted === false) epoch.suspendWanted = null;
      return;
    case 'process_continued':
      process.state = 'running';
      if (epoch.suspendWanted === true) epoch.suspendWanted = null;
      return;
    case 'process_lost':
      process.state = 'lost';
      return;
    default:
      unreachable(event);
  }
}

function applyExited(epoch: Epoch, process: Process, event: EventOf<'process_exited'>): void {
  process.state = 'exited';
  process.exit = event.exit;
  process.endedAt = event.endedAt;
  const { userUs, systemUs, memoryPeakBytes } = epoch.usage;
  epoch.usage = {
    userUs: userUs + event.usage.userUs,
    systemUs: systemUs + event.usage.systemUs,
    memoryPeakBytes: Math.max(memoryPeakBytes, event.usage.memoryPeakBytes),
  };
}

/** The walltime clock stands still while everything is stopped. */
function applySuspension(
  state: RunnerState,
  event: EventOf<'epoch_suspended' | 'epoch_resumed'>,
): void {
  const epoch = epochOf(state, event.epochId);
  const { epochId, at, monotonic } = event;
  epoch.suspended = event.kind === 'epoch_suspended';
  if (epoch.suspended) {
    if (epoch.runningSince !== null) epoch.runningMs += monotonic - epoch.runningSince;
    epoch.runningSince = null;
    addReport(state, { kind: 'task_suspended', epochId, at });
  } else {
    epoch.runningSince = monotonic;
    addReport(state, { kind: 'task_resumed', epochId, at });
  }
}

function applyEnded(state: RunnerState, event: EventOf<'epoch_ended'>): void {
  const epoch = epochOf(state, event.epochId);
  assert(!epoch.processes.some(isOpen), `epoch ${event.epochId} ends after its processes`);
  epoch.phase = 'ended';
  epoch.runningSince = null;
  addReport(state, event.report);
}

function neverStarted(event: EventOf<'epoch_refused'>): Report {
  return {
    kind: 'task_ended',
    epochId: event.epochId,
    at: event.at,
    cause: 'never_started',
    nodeFault: false,
    processes: [],
    usage: { userUs: 0, systemUs: 0, memoryPeakBytes: 0 },
  };
}

function addReport(state: RunnerState, report: Report): void {
  state.reports.set(state.nextReport, report);
  state.nextReport += 1;
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
  addFinished(state, epochId);
}

function addFinished(state: RunnerState, epochId: EpochId): void {
  state.finished.add(epochId);
  if (state.finished.size <= FINISHED_MAX) return;
  const oldest = state.finished.values().next();
  if (oldest.done !== true) state.finished.delete(oldest.value);
}

/** The state as one value; the opposite of applying `state_restored`. */
export function sumOf(state: RunnerState): StateSum {
  const { nextReport, nextLaunchId, heardAt, killGraceMs } = state;
  return {
    epochs: [...state.epochs.values()],
    finished: [...state.finished],
    reports: [...state.reports],
    nextReport,
    nextLaunchId,
    heardAt,
    killGraceMs,
  };
}

function applyRestored(state: RunnerState, sum: StateSum): void {
  assert(state.epochs.size === 0, 'a restored state is the first');
  for (const epoch of sum.epochs) addEpoch(state, epoch);
  for (const epochId of sum.finished) state.finished.add(epochId);
  for (const [serial, report] of sum.reports) state.reports.set(serial, report);
  state.nextReport = sum.nextReport;
  state.nextLaunchId = sum.nextLaunchId;
  state.heardAt = sum.heardAt;
  state.killGraceMs = sum.killGraceMs;
}
