// From one phase of an epoch to the next: one function each, which takes the phases that it may
// come from. The new value takes the place of the old one; the run, once there, stays the same.

import { assert } from '../base/assert.ts';
import { formatTaskId } from '../model/ids.ts';
import type { EndReport, LaunchOrder } from '../model/orders.ts';
import {
  beginOf,
  type Ended,
  type Epoch,
  isOpen,
  type Launching,
  type Phase,
  type Preparation,
  type Process,
  type Queued,
  type Run,
  type Running,
  type Storing,
  type Sweeping,
} from './epoch.ts';

/** An epoch of this phase; anything else is an event that cannot follow those before it. */
export function inPhase<P extends Phase>(
  epoch: Epoch,
  ...phases: readonly P[]
): Extract<Epoch, { readonly phase: P }> {
  const isThere = phases.some((phase) => phase === epoch.phase);
  assert(isThere, `epoch ${epoch.order.epochId} is ${phases.join(' or ')}, not ${epoch.phase}`);
  return epoch as Extract<Epoch, { readonly phase: P }>;
}

/** S3: at most one epoch of a task is beyond waiting, so that a newer one waits for the older. */
export function accepted(
  order: LaunchOrder,
  phase: Queued['phase'],
  nextUntil: number | undefined,
): Queued {
  return {
    ...(nextUntil === undefined ? {} : { nextUntil }),
    order,
    taskId: formatTaskId(order.place.jobId, order.place.index),
    phase,
    run: null,
    wanted: null,
    suspendTurns: 0,
    turnHeard: 0,
    paused: false,
    acknowledged: false,
  };
}

/** J7: the older epoch of the task is gone. */
export function unblocked({ nextUntil: _, ...epoch }: Queued): Queued {
  return { ...epoch, phase: 'accepted' };
}

/** A35: it has a place of its own from here on. */
export function withPlace({ nextUntil: _, ...epoch }: Queued): Queued {
  return { ...epoch, order: { ...epoch.order, next: false } };
}

/** S3: the launch ids are fixed before any process is asked for, so that each is started once. */
export function launching(
  epoch: Queued,
  { preparation, firstLaunchId }: { readonly preparation: Preparation; firstLaunchId: number },
): Launching {
  const processes = Array.from(
    { length: epoch.order.processesPerNode },
    (_, rank): Process => ({ launchId: firstLaunchId + rank, state: 'requested' }),
  );
  return { ...epoch, phase: 'launching', run: newRun(preparation, processes) };
}

/** A6: all processes of the part have started. */
export function running(epoch: Launching): Running {
  return { ...epoch, phase: 'running' };
}

/** A12: the main processes are gone; the claim goes only when nothing that they left lives. */
export function sweeping(epoch: Launching | Running): Sweeping {
  return { ...epoch, phase: 'sweeping' };
}

/** F10: what it leaves is with the head before its end is told. */
export function storing(epoch: Sweeping, end: EndReport): Storing {
  epoch.run.runningSince = null;
  return { ...epoch, phase: 'storing', end };
}

/** A7, S6: no process of it is open, and how it ended does not change any more. */
export function ended(epoch: Exclude<Epoch, Ended>, report: EndReport): Ended {
  const { order, taskId, run, wanted, suspendTurns, turnHeard, paused, acknowledged } = epoch;
  assert(!run?.processes.some(isOpen), `epoch ${order.epochId} ends after its processes`);
  if (run !== null) run.runningSince = null;
  // S13: a head that lost this end may have lost the start as well.
  const startedAt = beginOf(epoch);
  const told = startedAt === null ? report : { ...report, startedAt };
  const kept = { order, taskId, run, wanted, suspendTurns, turnHeard, paused, acknowledged };
  return { ...kept, phase: 'ended', told, released: false };
}

function newRun(preparation: Preparation, processes: Process[]): Run {
  return {
    preparation,
    processes,
    start: null,
    runningMs: 0,
    runningSince: null,
    suspended: false,
    turnTold: 0,
    ending: null,
    failure: null,
    signalSerial: 0,
    built: false,
    warned: false,
    usage: { userUs: 0, systemUs: 0, memoryPeakBytes: 0 },
  };
}
