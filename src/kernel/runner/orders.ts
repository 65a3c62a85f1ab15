// Orders from the head. Each may come any number of times, and after anything else.

import { unreachable } from '../base/assert.ts';
import { formatTaskId } from '../model/ids.ts';
import { NEXT_WAIT_MS_MAX } from '../model/limits.ts';
import type {
  EndOrder,
  LaunchOrder,
  Order,
  ResumeOrder,
  SignalOrder,
  SuspendOrder,
  TellOrder,
} from '../model/orders.ts';
import {
  type Epoch,
  instantOf,
  isGoingOn,
  isLaunched,
  isNext,
  isOpen,
  type Now,
  type Storing,
} from './epoch.ts';
import type { RunnerEvent } from './events.ts';
import {
  decideFinished,
  endOfNothing,
  isAnother,
  isTold,
  type Meant,
  neverSeen,
  neverStarted,
} from './finished.ts';
import { endUnlaunched } from './lease.ts';
import { decidePauseOrder } from './pause/decide.ts';
import { whyPaused } from './pause/state.ts';
import { givenBack, placed } from './places.ts';
import { endDiscarded, unblockNext } from './progress.ts';
import type { RunnerState } from './state.ts';

/** The events of one order. */
export function decideOrder(state: RunnerState, order: Order, now: Now): RunnerEvent[] {
  switch (order.kind) {
    case 'launch':
      return decideLaunch(state, order, now);
    case 'end':
      return decideEnd(state, order, now);
    case 'suspend':
    case 'resume':
      return decideTurn(state.epochs.get(order.epochId), order);
    case 'pause':
    case 'unpause':
      return decidePauseOrder(state, order, now);
    case 'tell':
      return decideTell(state, order, now);
    case 'signal':
      return decideSignal(state.epochs.get(order.epochId), order);
    default:
      return unreachable(order);
  }
}

function decideLaunch(state: RunnerState, order: LaunchOrder, now: Now): RunnerEvent[] {
  const placed = decidePlaced(state, order);
  if (placed !== null) return placed;
  const known = decideKnown(state, order, now);
  if (known !== null) return known;
  const taskId = formatTaskId(order.place.jobId, order.place.index);
  const events: RunnerEvent[] = [];
  let waits = order.next === true;
  for (const other of state.byTask.get(taskId) ?? []) {
    const epoch = state.epochs.get(other) as Epoch;
    if (epoch.phase === 'ended') continue;
    // A newer epoch is here: this order is from the past.
    if (epoch.order.epoch > order.epoch) return [refused(order, now)];
    // The head has moved on; what it no longer counts must not run beside the new epoch.
    const why = `replaced by epoch ${order.epoch}`;
    const grace = { graceMs: state.killGraceMs, why, discards: true } as const;
    events.push(...endKnown(epoch, grace, now));
    waits ||= !events.some((event) => event.kind === 'epoch_ended' && event.epochId === other);
  }
  const paused = whyPaused(state.pauses);
  if (paused !== null) events.push({ ...refused(order, now), why: paused });
  else events.push({ kind: 'epoch_accepted', order, waits, ...untilOf(order, now) });
  return events;
}

/** The head may plan with what it does not get back by then. */
function untilOf({ next }: LaunchOrder, { monotonic }: Now): { readonly nextUntil?: number } {
  return next === true ? { nextUntil: monotonic + NEXT_WAIT_MS_MAX } : {};
}

/** What waited for a place has one. Null: nothing of that number waits, or it still does. */
function decidePlaced(state: RunnerState, order: LaunchOrder): RunnerEvent[] | null {
  const epoch = state.epochs.get(order.epochId);
  if (epoch === undefined || order.next === true || !isNext(epoch)) return null;
  return isAnother(order, epoch.order.life) ? null : placed(state, epoch);
}

/** Null when nothing of its number is or was here, but perhaps of an earlier life of the head. */
function decideKnown(state: RunnerState, order: Meant, now: Now): RunnerEvent[] | null {
  const namesake = state.epochs.get(order.epochId);
  if (namesake !== undefined && isAnother(order, namesake.order.life)) {
    return decideBeside(state, namesake, order, now);
  }
  if (isAnother(order, state.finished.get(order.epochId))) return null;
  return decideFinished(state, order, now) ?? (namesake === undefined ? null : []);
}

/** What is held here will be told anyway. */
function decideTell(state: RunnerState, order: TellOrder, now: Now): RunnerEvent[] {
  const answer = decideFinished(state, order, now);
  if (answer !== null) return answer;
  if (state.epochs.has(order.epochId) || isTold(state, order.epochId)) return [];
  return [{ kind: 'end_repeated', report: neverSeen(order.epochId, now) }];
}

/**
 * Another life of the head gave the same number to a start that is still here. That one is counted
 * by nobody any more: it is ended, and the new one gets its next number.
 */
function decideBeside(
  state: RunnerState,
  namesake: Epoch,
  { epochId }: Meant,
  now: Now,
): RunnerEvent[] {
  const why = 'another start has its number: the head was put back';
  const events = endKnown(namesake, { graceMs: state.killGraceMs, why, discards: true }, now);
  if (isTold(state, epochId)) return events;
  return [...events, { kind: 'end_repeated', report: neverStarted(epochId, now) }];
}

/** A launch that the node cannot take now. What is here already, or was, is answered as ever. */
export function decideRefused(
  state: RunnerState,
  meant: Meant,
  why: string,
  now: Now,
): RunnerEvent[] {
  return decideKnown(state, meant, now) ?? [{ ...refused(meant, now), why }];
}

function decideEnd(state: RunnerState, order: EndOrder, now: Now): RunnerEvent[] {
  const epoch = state.epochs.get(order.epochId);
  if (epoch !== undefined && isAnother(order, epoch.order.life)) {
    return decideBeside(state, epoch, order, now);
  }
  const answer = decideFinished(state, order, now);
  if (answer !== null) return answer;
  if (epoch !== undefined && order.unlessBegun) {
    return isNext(epoch) ? [givenBack(epoch, now)] : [];
  }
  if (epoch !== undefined) {
    const events = endKnown(epoch, order, now);
    // It may have been storing, with the next start of its task waiting for that.
    const isOver = events.some(({ kind }) => kind === 'epoch_ended');
    return isOver ? [...events, ...unblockNext(state, epoch)] : events;
  }
  return [refused(order, now)];
}

function refused(
  { epochId, life }: Meant,
  now: Now,
): Extract<RunnerEvent, { kind: 'epoch_refused' }> {
  return { kind: 'epoch_refused', epochId, at: now.at, ...(life === undefined ? {} : { life }) };
}

function endKnown(
  epoch: Epoch,
  order: Pick<EndOrder, 'graceMs' | 'why' | 'discards' | 'hastens'>,
  now: Now,
): RunnerEvent[] {
  const epochId = epoch.order.epochId;
  const killAt = now.monotonic + order.graceMs;
  if (isLetGo(epoch, order)) return letGo(epoch, order.why, now);
  switch (epoch.phase) {
    case 'waiting':
    case 'accepted':
      return [endUnlaunched(epoch, { cause: 'ended', nodeFault: false, detail: order.why }, now)];
    case 'launching':
    case 'running':
      if (epoch.run.ending === null) {
        const { why, discards } = order;
        const begun = { cause: 'ended', why, at: instantOf(epoch, now), killAt } as const;
        return [{ kind: 'ending_begun', epochId, ...begun, ...(discards ? { discards } : {}) }];
      }
      if (epoch.run.ending.kills > 0 || killAt >= epoch.run.ending.killAt) return [];
      return [{ kind: 'ending_hastened', epochId, killAt }];
    case 'storing':
      return decideHaste(epoch, order, killAt);
    default:
      return [];
  }
}

/** Decides an order to end a task without processes: it may discard or hasten its files. */
function decideHaste(
  epoch: Storing,
  { why, discards, hastens }: Pick<EndOrder, 'why' | 'discards' | 'hastens'>,
  storeUntil: number,
): RunnerEvent[] {
  if (discards) return [endDiscarded(epoch, why)];
  if (!hastens || (epoch.storeUntil ?? Number.POSITIVE_INFINITY) <= storeUntil) return [];
  return [{ kind: 'storing_hastened', epochId: epoch.order.epochId, storeUntil }];
}

/** A resume also wakes processes that somebody else has stopped, unless it is heard only once. */
function decideTurn(epoch: Epoch | undefined, order: SuspendOrder | ResumeOrder): RunnerEvent[] {
  const { kind, turn } = order;
  if (epoch === undefined || !isGoingOn(epoch)) return [];
  const since = turn - epoch.turnHeard;
  if (since < 0) return [];
  // A newer turn is noted even if it wishes for what is: the ones before it are then from the past.
  const isOnce = kind === 'resume' && order.isOnce === true;
  if (since === 0 && (isOnce || showsAlready(epoch, kind))) return [];
  const { epochId } = epoch.order;
  return [{ kind: `${kind}_wanted`, epochId, turn }];
}

function showsAlready(epoch: Epoch, kind: 'suspend' | 'resume'): boolean {
  if (epoch.wanted !== null) return epoch.wanted === kind;
  return kind === 'resume' && epoch.run?.suspended !== true;
}

/** A signal for processes that are gone or not yet there reaches nobody, as kill(1). */
function decideSignal(epoch: Epoch | undefined, order: SignalOrder): RunnerEvent[] {
  const run = epoch?.run ?? null;
  if (run === null || order.serial <= run.signalSerial || !run.processes.some(isOpen)) return [];
  const { epochId, signal, serial, to } = order;
  const wanted = { kind: 'signal_wanted', epochId, signal, serial } as const;
  return [to === undefined ? wanted : { ...wanted, to }];
}

// Jobs that a user gave to a site itself: our books on them may end without them. What the site
// runs runs; it ends for us only if somebody wants it to end.

/** What heads say of an end that somebody asked for: owner, operator, or a rule they set. */
const WISHES: ReadonlySet<string> = new Set(['cancel', 'requeue']);

/** True when the epoch is not ours to end: a head just does not count it, or not this part. */
function isLetGo(epoch: Epoch, { why }: Pick<EndOrder, 'why'>): boolean {
  if (epoch.order.foreign === undefined || WISHES.has(why)) return false;
  return isLaunched(epoch) && epoch.run.ending === null;
}

/** Lets an epoch go, as if it was never here. Of the job, its site goes on to tell. */
function letGo(epoch: Epoch, why: string, now: Now): RunnerEvent[] {
  const { epochId } = epoch.order;
  const detail = `its gateway let go of it, and its site goes on with it: ${why}`;
  const report = endOfNothing(epochId, { at: now.at, cause: 'never_started', detail });
  return [
    { kind: 'let_go', epochId },
    { kind: 'epoch_ended', epochId, report },
  ];
}
