// Places on the node that pass from a task to the next of its job, without the head being asked.

import type { EndReport } from '../model/orders.ts';
import { type Epoch, endingOf, isNext, type Now } from './epoch.ts';
import type { RunnerEvent } from './events.ts';
import { endUnlaunched } from './lease.ts';
import { whyPaused } from './pause/state.ts';
import type { RunnerState } from './state.ts';

/**
 * The end of an epoch, with who has its place from now on. Only what ended by itself gives it away:
 * what somebody has ended may have had to make room.
 */
export function endWithNext(
  state: RunnerState,
  gone: Epoch,
  report: EndReport,
  now: Now,
): RunnerEvent[] {
  const { epochId } = gone.order;
  const next = mayPass(state, gone, report) ? nextIn(state, gone, now) : null;
  if (next === null) return [{ kind: 'epoch_ended', epochId, report }];
  const told = { ...report, next: next.order.epochId };
  return [{ kind: 'epoch_ended', epochId, report: told }, ...placed(state, next)];
}

/** The epoch has a place: it begins, as soon as no older epoch of its task is here. */
export function placed(state: RunnerState, epoch: Epoch): RunnerEvent[] {
  const { epochId } = epoch.order;
  return [{ kind: isAlone(state, epoch) ? 'epoch_unblocked' : 'epoch_placed', epochId }];
}

function isAlone({ byTask, epochs }: RunnerState, { order, taskId }: Epoch): boolean {
  for (const id of byTask.get(taskId) ?? []) {
    if (id !== order.epochId && epochs.get(id)?.phase !== 'ended') return false;
  }
  return true;
}

/** True once it has waited for a place for too long. */
export function isNextOver(epoch: Epoch, { monotonic }: Now): boolean {
  const until = nextUntilOf(epoch);
  return until !== null && monotonic >= until;
}

/** Monotonic; null: it waits for no place. */
export function nextUntilOf(epoch: Epoch): number | null {
  return epoch.phase === 'waiting' && isNext(epoch) ? (epoch.nextUntil ?? 0) : null;
}

/** Gives back all that waits for a place. */
export function giveAllBack({ nextOf, epochs }: RunnerState, now: Now): RunnerEvent[] {
  const waiting = [...nextOf.values()].flatMap((ids) => [...ids]);
  return waiting.flatMap((id) => {
    const epoch = epochs.get(id);
    return epoch === undefined ? [] : [givenBack(epoch, now)];
  });
}

/** Gives back what has not begun: the head may do with it as it likes. */
export function givenBack(epoch: Epoch, now: Now): RunnerEvent {
  const detail = 'no task of its job has given its place up to it';
  return endUnlaunched(epoch, { cause: 'never_started', nodeFault: false, detail }, now);
}

function mayPass(state: RunnerState, gone: Epoch, { cause }: EndReport): boolean {
  if (cause !== 'exited' && cause !== 'out_of_memory') return false;
  return endingOf(gone) === null && whyPaused(state.pauses) === null;
}

/** The first that waits and need not wait for an older epoch of its own task. */
function nextIn(state: RunnerState, { order }: Epoch, now: Now): Epoch | null {
  for (const id of state.nextOf.get(order.place.jobId) ?? []) {
    const epoch = state.epochs.get(id);
    if (epoch === undefined || !isNext(epoch) || isNextOver(epoch, now)) continue;
    if (isAlone(state, epoch)) return epoch;
  }
  return null;
}
