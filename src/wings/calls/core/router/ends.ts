// How calls leave a worker and end: settled, with a result, or queued once more.

import { isMostlyOver } from '../fifo.ts';
import type { SettledWhy } from '../messages.ts';
import { isOver, toEnded, toGiven, toLost, toNowhere, toQueued } from './phases.ts';
import type { Call, End, Session, Worker } from './records.ts';
import { numberOf, type RouterState } from './state.ts';
import { closeRelaysOf } from './streams.ts';

/** Queues a call; `again`: ahead of calls that have never been given. */
export function enqueue(state: RouterState, call: Call, how: 'fresh' | 'again'): void {
  const { session } = call;
  toQueued(call);
  call.queuedAt = state.now;
  state.waiting += 1;
  if (how === 'fresh') session.fresh.push(call);
  else session.again.push(call);
  if (session.limbo === 0) state.enter(session);
}

/**
 * Not waiting any more, for whatever reason; the queue drops it when it meets it, or is cleared.
 */
function leaveQueue(state: RouterState, call: Call): void {
  if (call.state === 'queued') state.waiting -= 1;
  if (call.state !== 'limbo') return;
  call.session.limbo -= 1;
  if (call.session.limbo === 0) state.enter(call.session);
}

/** The worker has this call now; its load and the window follow. */
export function assign(state: RouterState, call: Call, worker: Worker): void {
  leaveQueue(state, call);
  state.credit(call);
  toGiven(call, worker);
  call.givenAt = state.now;
  worker.calls.add(call);
  // A process of its own runs it, and the worker has as much room as before.
  if (call.depth > 0) return;
  if (worker.load === 0) {
    state.busy += 1;
    worker.endedAt = state.now;
  }
  worker.load += 1;
  worker.aheadMs += call.aheadMs;
  worker.aheadBytes += call.inline?.length ?? 0;
  state.loads.refresh(worker);
}

/** The worker does not work on it any more, however that came. */
function unload(state: RouterState, call: Call): void {
  if ((call.state !== 'given' && call.state !== 'started') || call.depth > 0) return;
  const { worker } = call;
  worker.load -= 1;
  worker.aheadMs = worker.load === 0 ? 0 : worker.aheadMs - call.aheadMs;
  worker.aheadBytes = worker.load === 0 ? 0 : worker.aheadBytes - (call.inline?.length ?? 0);
  worker.endedAt = state.now;
  if (worker.load === 0) {
    goesOn(worker);
    state.busy -= 1;
    worker.idleSince = state.now;
  }
  state.loads.refresh(worker);
}

/** What held it up is over. */
function goesOn(worker: Worker): void {
  if (worker.duty === 'held_up') worker.duty = 'takes';
}

/** The end of a call: told to its client, and kept until that has it. */
export function end(state: RouterState, call: Call, told: End): void {
  const { session, worker } = call;
  if (worker !== null && call.depth === 0) goesOn(worker);
  unload(state, call);
  closeRelaysOf(call);
  if (call.isDropped) return release(state, call);
  leaveQueue(state, call);
  if (!isOver(call)) session.unacked += 1;
  else session.unackedBytes -= inlineBytes(call);
  count(state, call, told);
  toEnded(call, told);
  call.inline = null;
  session.unackedBytes += inlineBytes(call);
  session.line?.peer.send(told);
  state.hasNews(session);
}

/** Each call once, and once more as failed: its result may be lost after its end was told. */
function count(state: RouterState, call: Call, told: End): void {
  const { session, end: before } = call;
  if (before === null) {
    state.doneCount += 1;
    session.doneCount += 1;
    measure(state, call);
  }
  if (!hasFailed(told) || (before !== null && hasFailed(before))) return;
  state.failedCount += 1;
  session.failedCount += 1;
}

/** True for an end without a value that nobody asked for. */
function hasFailed(told: End): boolean {
  return told.kind === 'result' ? !told.ok : told.why !== 'cancelled';
}

/** One that only a worker has told of has waited with another router. */
function measure({ now, meter }: RouterState, { session, queuedAt }: Call): void {
  if (queuedAt === 0) return;
  meter.note(now, now - queuedAt);
  session.meter.note(now, now - queuedAt);
}

function inlineBytes({ end: told }: Call): number {
  return told?.kind === 'result' && 'inline' in told.payload ? told.payload.inline.length : 0;
}

export interface Reason {
  readonly why: SettledWhy;
  readonly detail: string;
}

/** Ends a call without a result. */
export function settle(state: RouterState, call: Call, { why, detail }: Reason): void {
  const worker = call.worker?.name ?? null;
  end(state, call, { kind: 'settled', call: call.number, why, detail, worker });
}

/** What became of an attempt that was lost: another one when there may be one. */
export function fail(state: RouterState, call: Call, reason: Reason): void {
  if (call.isCancelled) return settle(state, call, { ...reason, why: 'cancelled' });
  if (call.isDropped || call.attempt > call.retriesMax) return settle(state, call, reason);
  takeBack(state, call);
  enqueue(state, call, 'again');
}

/** Fails a call by word of its worker, which forgets this attempt before it can get another one. */
export function failAtWorker(state: RouterState, call: Call, detail: string): void {
  if (call.asset === null && !call.isDropped) return keepLost(state, call, detail);
  const { worker, session, number } = call;
  fail(state, call, { why: 'worker_lost', detail });
  if (isOver(call) || worker?.line == null) return;
  const named = numberOf(worker.line, session);
  worker.line.peer.send({ kind: 'ack', session: named, calls: [number] });
}

/** Whether there is another attempt is known only when its client has named it again. */
function keepLost(state: RouterState, call: Call, detail: string): void {
  if (call.state !== 'given' && call.state !== 'started') return;
  unload(state, call);
  call.session.unacked += 1;
  toLost(call, detail);
}

/** The attempt did not begin: it does not count. */
export function giveBack(state: RouterState, call: Call): void {
  takeBack(state, call);
  call.attempt -= 1;
  // Without its function it cannot be given: its client is still to send it again.
  if (call.isDropped || call.asset === null) forget(call);
  else if (call.isCancelled) {
    settle(state, call, { why: 'cancelled', detail: 'It was cancelled before it started.' });
  } else enqueue(state, call, 'again');
}

function takeBack(state: RouterState, call: Call): void {
  closeRelaysOf(call);
  unload(state, call);
  if (isOver(call)) {
    call.session.unacked -= 1;
    call.session.unackedBytes -= inlineBytes(call);
  }
  call.worker?.calls.delete(call);
  call.depth = 0;
  toNowhere(call);
}

/**
 * Releases a call whose end its client has, or nobody wants: nothing of it is kept here or at its
 * worker.
 */
export function release(state: RouterState, call: Call): void {
  const { session } = call;
  state.ack(call);
  // One that ended without having been at a worker has taken room until now: else a client that
  // cancels its calls, and takes no end of theirs, would fill the router.
  state.credit(call);
  closeRelaysOf(call);
  if (isOver(call)) {
    session.unacked -= 1;
    session.unackedBytes -= inlineBytes(call);
    state.enter(session);
  }
  forget(call);
}

function forget(call: Call): void {
  const { session } = call;
  call.worker?.calls.delete(call);
  session.calls.delete(call.number);
  clear(session);
}

/**
 * Calls that ended behind one that waits have given their window back: a client could add to them
 * for ever.
 */
function clear({ fresh, again, calls }: Session): void {
  if (isMostlyOver(fresh.length, calls.size)) fresh.retain(isQueued);
  if (isMostlyOver(again.size, calls.size)) again.retain(isQueued);
}

function isQueued({ state }: Call): boolean {
  return state === 'queued';
}

/** A process died in it. */
export function countCrash({ session, asset }: Call): void {
  if (asset === null) return;
  session.crashes.set(asset.sha256, (session.crashes.get(asset.sha256) ?? 0) + 1);
}

/** Nobody waits for this call: it leaves the queue, or its worker is told to end it. */
export function drop(state: RouterState, call: Call): void {
  const { session, worker } = call;
  state.uncount(call);
  if (call.state !== 'given' && call.state !== 'started') {
    if (call.state === 'queued') state.waiting -= 1;
    if (call.state === 'limbo') session.limbo -= 1;
    // The queue is not to meet it as one that waits.
    if (!isOver(call)) toNowhere(call);
    return release(state, call);
  }
  call.isDropped = true;
  if (worker?.line == null) return;
  const number = numberOf(worker.line, session);
  worker.line.peer.send({ kind: 'cancel', session: number, call: call.number });
}
