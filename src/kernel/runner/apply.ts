// Events → state. The same code live and from the journal; reads no clock and decides nothing.

import { present, unreachable } from '../base/assert.ts';
import type { EpochId } from '../model/ids.ts';
import { applyProcess, setProcess } from './apply-process.ts';
import {
  addEpoch,
  addFinished,
  addReport,
  advance,
  applyRestored,
  epochOf,
  noLongerNext,
  oldestReport,
  runOf,
} from './books.ts';
import {
  type Epoch,
  elapsedMs,
  instantOf,
  isHeldStill,
  isOpen,
  pauseWalltime,
  processesOf,
  type Queued,
  type Run,
} from './epoch.ts';
import type { RunnerEvent } from './events.ts';
import { endOfNothing } from './finished.ts';
import { applyPause } from './pause/apply.ts';
import type { RunnerState } from './state.ts';
import {
  accepted,
  ended,
  inPhase,
  launching,
  running,
  storing,
  sweeping,
  unblocked,
  withPlace,
} from './transitions.ts';

/** From each of these an epoch may end. */
const NOT_ENDED = ['waiting', 'accepted', 'launching', 'running', 'sweeping', 'storing'] as const;

type EventOf<Kind extends RunnerEvent['kind']> = Extract<RunnerEvent, { kind: Kind }>;

/** Brings the state up to date with these events, in order. */
export function apply(state: RunnerState, events: readonly RunnerEvent[]): void {
  for (const event of events) applyOne(state, event);
}

function applyOne(state: RunnerState, event: RunnerEvent): void {
  switch (event.kind) {
    case 'epoch_accepted':
      addEpoch(state, accepted(event.order, event.waits ? 'waiting' : 'accepted', event.nextUntil));
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
    case 'epoch_unblocked':
      advance(state, unblocked(inPhase(epochOf(state, event.epochId), 'waiting', 'accepted')));
      return;
    case 'epoch_placed':
      applyPlaced(state, inPhase(epochOf(state, event.epochId), 'waiting', 'accepted'));
      return;
    case 'sweep_begun':
      advance(state, sweeping(inPhase(epochOf(state, event.epochId), 'launching', 'running')));
      return;
    case 'storing_hastened':
      inPhase(epochOf(state, event.epochId), 'storing').storeUntil = event.storeUntil;
      return;
    case 'suspend_wanted':
    case 'resume_wanted':
      applyTurn(epochOf(state, event.epochId), event);
      return;
    default:
      applyToRun(runOf(state, event.epochId), event);
      return;
  }
}

function applyPlaced(state: RunnerState, epoch: Queued): void {
  noLongerNext(state, epoch);
  advance(state, withPlace(epoch));
}

/** J16: every part of a stop or a go, whatever its phase, remembers the newest order. */
function applyTurn(epoch: Epoch, event: EventOf<'suspend_wanted' | 'resume_wanted'>): void {
  epoch.wanted = event.kind === 'suspend_wanted' ? 'suspend' : 'resume';
  epoch.suspendTurns += 1;
  epoch.turnHeard = event.turn;
}

/** Events that only change fields of what runs. */
function applyToRun(
  run: Run,
  event: EventOf<
    'signal_wanted' | 'warning_due' | 'ending_begun' | 'ending_hastened' | 'kill_due' | 'let_go'
  >,
): void {
  switch (event.kind) {
    case 'signal_wanted':
      run.signalSerial = event.serial;
      return;
    case 'warning_due':
      run.warned = true;
      return;
    case 'ending_begun': {
      const { cause, why, discards = false, at, killAt } = event;
      run.ending = { cause, why, discards, at, killAt, kills: 0 };
      return;
    }
    case 'ending_hastened':
      present(run.ending, 'the ending').killAt = event.killAt;
      return;
    case 'kill_due': {
      const ending = present(run.ending, 'the ending');
      ending.kills += 1;
      ending.killAt = event.killAt;
      return;
    }
    case 'let_go':
      run.processes.forEach((process, rank) => {
        if (isOpen(process)) setProcess(run, rank, 'lost');
      });
      return;
    default:
      unreachable(event);
  }
}

function applyLaunching(state: RunnerState, event: EventOf<'epoch_launching'>): void {
  const { epochId } = event;
  const epoch = launching(inPhase(epochOf(state, epochId), 'waiting', 'accepted'), event);
  advance(state, epoch);
  epoch.run.processes.forEach(({ launchId }, rank) => {
    state.byLaunch.set(launchId, { epochId, rank });
  });
  state.nextLaunchId = event.firstLaunchId + epoch.order.processesPerNode;
}

function applyRunning(state: RunnerState, event: EventOf<'epoch_running'>): void {
  const epoch = running(inPhase(epochOf(state, event.epochId), 'launching'));
  advance(state, epoch);
  const { run } = epoch;
  const { limits } = run.preparation;
  const at = run.start?.at ?? event.at;
  const late = event.agoMs === undefined ? {} : { agoMs: event.agoMs };
  if (event.agoMs !== undefined) run.start = { ...run.start, at, begunMs: event.agoMs };
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
  const { epochId, monotonic } = event;
  const epoch = epochOf(state, epochId);
  const run = runOf(state, epochId);
  const at = instantOf(epoch, event);
  run.suspended = event.kind === 'epoch_suspended';
  run.turnTold += 1;
  const turn = run.turnTold;
  if (run.suspended) {
    if (isHeldStill(epoch)) pauseWalltime(run, monotonic);
    addReport(state, { kind: 'task_suspended', epochId, at, turn });
  } else {
    run.runningSince ??= monotonic;
    addReport(state, { kind: 'task_resumed', epochId, at, turn });
  }
}

function applyBuilt(state: RunnerState, event: EventOf<'build_over'>): void {
  const { epochId, at, monotonic, tookMs } = event;
  const run = runOf(state, epochId);
  run.runningMs = elapsedMs({ run }, event) - tookMs;
  if (run.runningSince !== null) run.runningSince = monotonic;
  run.built = true;
  addReport(state, { kind: 'task_built', epochId, at, tookMs });
}

function applyStoring(state: RunnerState, event: EventOf<'storing_begun'>): void {
  const { epochId, at, report } = event;
  advance(state, storing(inPhase(epochOf(state, epochId), 'sweeping'), report));
  addReport(state, { kind: 'task_storing', epochId, at });
}

function applyEnded(state: RunnerState, event: EventOf<'epoch_ended'>): void {
  const { epochId, report } = event;
  advance(state, ended(inPhase(epochOf(state, epochId), ...NOT_ENDED), report));
  addReport(state, report);
}

function applyRefused(state: RunnerState, event: EventOf<'epoch_refused'>): void {
  const { epochId, life, at, why } = event;
  const end = endOfNothing(epochId, { at, cause: 'never_started', detail: why });
  addReport(state, end);
  addFinished(state, epochId, { life, end });
}

function applyAcknowledged(state: RunnerState, upTo: number): void {
  const last = Math.min(upTo, state.nextReport - 1);
  for (let serial = oldestReport(state); serial <= last; serial += 1) {
    const report = state.reports.get(serial);
    state.reports.delete(serial);
    const epoch = report?.kind === 'task_ended' ? state.epochs.get(report.epochId) : undefined;
    if (epoch === undefined) continue;
    epoch.acknowledged = true;
    forgetWhenDone(state, epoch);
  }
}

function applyReleased(state: RunnerState, epochId: EpochId): void {
  const epoch = inPhase(epochOf(state, epochId), 'ended');
  epoch.released = true;
  forgetWhenDone(state, epoch);
}

function forgetWhenDone(state: RunnerState, epoch: Epoch): void {
  if (epoch.phase !== 'ended' || !epoch.acknowledged || !epoch.released) return;
  const epochId = epoch.order.epochId;
  state.epochs.delete(epochId);
  const siblings = state.byTask.get(epoch.taskId);
  siblings?.delete(epochId);
  if (siblings?.size === 0) state.byTask.delete(epoch.taskId);
  for (const { launchId } of processesOf(epoch)) state.byLaunch.delete(launchId);
  const { life } = epoch.order;
  addFinished(state, epochId, { life, end: epoch.told });
}
