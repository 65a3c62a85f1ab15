// What the launcher says of processes.

import { unreachable } from '../base/assert.ts';
import {
  type Epoch,
  type Failure,
  instantOf,
  isLaunched,
  isLive,
  isOpen,
  type Launching,
  type Now,
  type Process,
  type ProcessPlace,
  type Running,
} from './epoch.ts';
import type { RunnerEvent } from './events.ts';
import { askingFailed, describeFailure } from './failure.ts';
import type { ProcessInput } from './inputs.ts';
import type { RunnerState } from './state.ts';

/** What is heard so soon is heard at once. */
const LATE_MS = 1000;

interface Spot extends ProcessPlace {
  readonly epoch: Launching | Running;
  readonly process: Process;
}

/** The events of one launcher report; a launch id of nobody's is the shell's to clean up. */
export function decideProcess(state: RunnerState, event: ProcessInput, now: Now): RunnerEvent[] {
  const place = state.byLaunch.get(event.launchId);
  if (place === undefined) return [];
  const epoch = state.epochs.get(place.epochId);
  const process = epoch?.run?.processes[place.rank];
  if (epoch === undefined || !isLaunched(epoch) || process === undefined) return [];
  if (!isOpen(process)) return [];
  const spot = { ...place, epoch, process };
  switch (event.kind) {
    case 'started':
      return decideStarted(spot, now, event.agoMs);
    case 'failed':
      if (event.stage === 'lease') return decideTooLate(spot, now);
      return decideFailed(
        state,
        spot,
        describeFailure(epoch.order, epoch.run.preparation, event),
        now,
      );
    case 'refused':
      // A new gateway does not find a job that ran: nobody knows how it ended.
      if (isLive(process) && event.there === undefined) {
        return decideLost(spot, event.why);
      }
      return decideFailed(state, spot, refusal(epoch, event), now);
    case 'unstartable':
      return decideFailed(state, spot, askingFailed(event.why), now);
    case 'exited':
      return decideExited(spot, event, now);
    case 'stopped':
      return decideStopped(spot, now);
    case 'found_stopped':
      return decideStopped(spot, now, { found: true });
    case 'continued':
      return decideContinued(spot, now);
    case 'lost':
      return decideLost(spot, event.why);
    default:
      return unreachable(event);
  }
}

/**
 * @param agoMs counts for what is told; its time limit counts from now, as clocks need not agree
 */
function decideStarted(
  { epoch, process, epochId, rank }: Spot,
  now: Now,
  agoMs = 0,
): RunnerEvent[] {
  if (process.state !== 'requested') return [];
  const events: RunnerEvent[] = [{ kind: 'process_started', epochId, rank, ...now }];
  if (isLastRequested(epoch, process) && epoch.run.failure === null) {
    const late = agoMs < LATE_MS ? {} : { agoMs };
    events.push({ kind: 'epoch_running', epochId, at: now.at, ...late });
  }
  return events;
}

/** No other process of the part is still to be started. */
function isLastRequested(epoch: Launching | Running, process: Process): boolean {
  return !epoch.run.processes.some((other) => other !== process && other.state === 'requested');
}

/**
 * What the launcher did by itself shows only in the end of a process; the others' ends follow. What
 * an agent that had stood still began after that is not why the process ended.
 */
function endingByLauncher(epoch: Launching | Running, at: number, now: Now): RunnerEvent[] {
  if (epoch.run.ending !== null && epoch.run.ending.at <= at) return [];
  const { epochId } = epoch.order;
  const why = 'the lease expired while no agent was there to renew it';
  const killAt = now.monotonic;
  return [{ kind: 'ending_begun', epochId, cause: 'lease_expired', why, at, killAt }];
}

/** What a site answers is a matter of the job; that nobody could ask it is one of the gateway. */
function refusal(
  { order }: Epoch,
  { why: detail, there }: Extract<ProcessInput, { kind: 'refused' }>,
): Failure {
  // A job of the site's own users that is not there any more is no fault of the site.
  if (there === undefined) return { detail, nodeFault: order.foreign === undefined };
  return { detail, nodeFault: false, there };
}

function decideFailed(state: RunnerState, spot: Spot, failure: Failure, now: Now): RunnerEvent[] {
  const { epoch, process, epochId, rank } = spot;
  const events: RunnerEvent[] = [{ kind: 'process_failed', epochId, rank, failure }];
  if (isLastOpen(epoch, process)) return [...events, { kind: 'sweep_begun', epochId }];
  // The others have no use without it: all of a part or nothing.
  if (epoch.run.ending === null) {
    const killAt = now.monotonic + state.killGraceMs;
    const why = failure.detail;
    const at = instantOf(epoch, now);
    events.push({ kind: 'ending_begun', epochId, cause: 'launch_failed', why, at, killAt });
  }
  return events;
}

/** Nothing was started: the lease was over before the launcher was asked. */
function decideTooLate({ epoch, process, epochId, rank }: Spot, now: Now): RunnerEvent[] {
  const events = endingByLauncher(epoch, now.at, now);
  events.push({ kind: 'process_lost', epochId, rank });
  if (isLastOpen(epoch, process)) events.push({ kind: 'sweep_begun', epochId });
  return events;
}

function isLastOpen(epoch: Launching | Running, process: Process): boolean {
  return !epoch.run.processes.some((other) => other !== process && isOpen(other));
}

function decideExited(
  { epoch, process, epochId, rank }: Spot,
  event: Extract<ProcessInput, { kind: 'exited' }>,
  now: Now,
): RunnerEvent[] {
  const endedAt = endTimeOf(epoch, event.endedAt, now);
  const events = event.leaseOver ? endingByLauncher(epoch, endedAt, now) : [];
  // The start was not heard of, which happens after a restart; the head is told of it all the same.
  if (process.state === 'requested') {
    events.push({ kind: 'process_started', epochId, rank, ...now });
    if (isLastRequested(epoch, process) && epoch.run.failure === null) {
      events.push({ kind: 'epoch_running', epochId, at: now.at });
    }
  }
  const { exit, usage, cancelledThere } = event;
  const there = cancelledThere === undefined ? {} : { cancelledThere };
  events.push({ kind: 'process_exited', epochId, rank, exit, usage, endedAt, ...there });
  if (isLastOpen(epoch, process)) return [...events, { kind: 'sweep_begun', epochId }];
  if (!epoch.run.suspended && othersStopped(epoch, process)) {
    events.push({ kind: 'epoch_suspended', epochId, ...now });
  }
  return events;
}

/** The launcher reads the wall clock, as it is now: processes end just before that is heard. */
function endTimeOf(epoch: Launching | Running, endedAt: number, now: Now): number {
  const told = endedAt + instantOf(epoch, now) - now.at;
  return told === endedAt ? told : Math.max(epoch.run.start?.at ?? told, told);
}

/** At least one other lives, and every one that does is stopped. */
function othersStopped(epoch: Launching | Running, process: Process): boolean {
  let stopped = false;
  for (const other of epoch.run.processes) {
    if (other === process || !isOpen(other)) continue;
    if (other.state !== 'stopped') return false;
    stopped = true;
  }
  return stopped;
}

function decideStopped(
  { epoch, process, epochId, rank }: Spot,
  now: Now,
  how: { readonly found?: true } = {},
): RunnerEvent[] {
  if (process.state === 'stopped') return [];
  const events: RunnerEvent[] = [];
  if (process.state === 'requested')
    events.push(...decideStarted({ epoch, process, epochId, rank }, now));
  events.push({ kind: 'process_stopped', epochId, rank, ...how });
  const alone = !epoch.run.processes.some((other) => other !== process && isOpen(other));
  if (alone || othersStopped(epoch, process)) {
    events.push({ kind: 'epoch_suspended', epochId, ...now });
  }
  return events;
}

function decideContinued({ epoch, process, epochId, rank }: Spot, now: Now): RunnerEvent[] {
  if (!isLive(process) || process.state !== 'stopped') return [];
  const events: RunnerEvent[] = [{ kind: 'process_continued', epochId, rank }];
  if (epoch.run.suspended) events.push({ kind: 'epoch_resumed', epochId, ...now });
  return events;
}

function decideLost({ epoch, process, epochId, rank }: Spot, why?: string): RunnerEvent[] {
  const said = why === undefined ? {} : { why };
  const events: RunnerEvent[] = [{ kind: 'process_lost', epochId, rank, ...said }];
  if (isLastOpen(epoch, process)) events.push({ kind: 'sweep_begun', epochId });
  return events;
}
