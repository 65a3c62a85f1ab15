// What workers say to the router, and what becomes of the calls of one that is lost.

import { unreachable } from '../../../../kernel/base/assert.ts';
import { CALL_HEARTBEAT_MS } from '../../../../kernel/model/limits.ts';
import { kept } from '../kept.ts';
import type { AttemptRef, CallRef, Held, WorkerHello, WorkerToRouter } from '../messages.ts';
import { read, tellAssets } from './assets.ts';
import { assign, countCrash, end, fail, failAtWorker, giveBack, settle } from './ends.ts';
import { cut } from './lines.ts';
import { isOver, toStarted } from './phases.ts';
import { toHere } from './presence.ts';
import {
  type Asset,
  type Call,
  newCall,
  newSession,
  newWorker,
  type Session,
  type Worker,
  type WorkerLine,
} from './records.ts';
import { accountFor } from './recovery.ts';
import { numberOf, type RouterState } from './state.ts';
import {
  askAgain,
  findFlaw,
  onBody,
  onMore,
  onNear,
  onNone,
  onStop,
  openRelay,
  sizeOfCall,
} from './streams.ts';

/** One message; what is wrong with it, if anything: then the line is cut. */
export function takeFromWorker(
  state: RouterState,
  line: WorkerLine,
  message: WorkerToRouter,
): string | null {
  const { worker } = line;
  if (message.kind === 'hello') return onHello(state, line, message);
  if (worker === null) return `'${message.kind}' before hello`;
  switch (message.kind) {
    case 'body':
      return onBody(state, line, message);
    case 'near':
      return onNear(line, message);
    case 'more':
      return onMore(state, line, message);
    case 'stop':
      onStop(line, message);
      return null;
    case 'none': {
      const relay = onNone(state, line, message);
      if (relay?.of === 'result') lost(state, relay.call, LOST_RESULT);
      return null;
    }
    case 'pong':
      return null;
    case 'returned':
      return onReturned(state, line, message.calls);
    case 'wanted':
      return onWanted(state, line, message);
    default:
      return onCallMessage(state, line, message);
  }
}

type CallMessage = Extract<WorkerToRouter, AttemptRef>;

/** What is about one call that this worker has, or had. */
function onCallMessage(state: RouterState, line: WorkerLine, message: CallMessage): string | null {
  const session = line.sessions[message.session];
  if (session === undefined) return `session ${message.session} was never told`;
  const call = session.calls.get(message.call);
  if (call === undefined || call.worker !== line.worker) {
    // Settled already, and the acknowledgement was lost with a line.
    if (message.kind === 'started' || message.kind === 'progress') return null;
    line.peer.send({ kind: 'ack', session: message.session, calls: [message.call] });
    return null;
  }
  if (isOver(call) || call.attempt !== message.attempt) return null;
  return onOwnCall(state, call, message);
}

function onOwnCall(state: RouterState, call: Call, message: CallMessage): string | null {
  switch (message.kind) {
    case 'result':
      onResult(state, call, message);
      return null;
    case 'started':
      onStarted(call);
      return null;
    case 'progress':
      onProgress(call, message.bytes);
      return null;
    case 'lost':
      countCrash(call);
      failAtWorker(state, call, message.detail);
      return null;
    case 'timed_out':
      settle(state, call, { why: 'timeout', detail: `It took longer than ${call.timeoutMs} ms.` });
      return null;
    case 'cancelled':
      settle(state, call, { why: 'cancelled', detail: 'It was cancelled.' });
      return null;
    case 'refused':
      settle(state, call, { why: 'refused', detail: message.detail });
      return null;
    default:
      return unreachable(message);
  }
}

function onResult(
  state: RouterState,
  call: Call,
  message: Extract<WorkerToRouter, { kind: 'result' }>,
): void {
  const { worker, session, asset } = call;
  const { ok, payload, elapsedMs } = message;
  if (asset !== null) {
    learn(asset, elapsedMs);
    if (session.crashes.size > 0) session.crashes.delete(asset.sha256);
  }
  if (worker !== null) {
    worker.doneCount += 1;
    if (!ok) worker.failedCount += 1;
  }
  // Where it went wrong is worth a message, however short the call was.
  if (!ok) onStarted(call);
  const told = 'inline' in payload && mayWait(session) ? { inline: kept(payload.inline) } : payload;
  const { number, attempt } = call;
  end(state, call, { kind: 'result', call: number, ok, attempt, payload: told });
}

/** True when results of the session are kept for longer than a moment. */
function mayWait({ line }: Session): boolean {
  return line === null || line.peer.isBehind;
}

/** The last few calls count most; a change of what a function does is soon known. */
function learn(asset: Asset, elapsedMs: number): void {
  asset.meanMs = asset.meanMs === null ? elapsedMs : asset.meanMs + (elapsedMs - asset.meanMs) / 8;
}

function onStarted(call: Call): void {
  if (call.state !== 'given') return;
  toStarted(call);
  if (call.isDropped) return;
  const { number, attempt, worker, session } = call;
  session.line?.peer.send({ kind: 'started', call: number, attempt, worker: worker?.name ?? '' });
}

/** Passes progress on; a client that does not keep up misses some. */
function onProgress({ session, number, isDropped }: Call, bytes: Uint8Array): void {
  const peer = session.line?.peer;
  if (peer === undefined || peer.isBehind || isDropped) return;
  peer.send({ kind: 'progress', call: number, bytes });
}

function onReturned(
  state: RouterState,
  line: WorkerLine,
  calls: readonly CallRef[],
): string | null {
  if (calls.length === 0) quits(state, line);
  for (const ref of calls) {
    const session = line.sessions[ref.session];
    if (session === undefined) return `session ${ref.session} was never told`;
    const call = session.calls.get(ref.call);
    if (call === undefined || call.worker !== line.worker) continue;
    if (call.state === 'started') return `call ${ref.call} is returned, and had started`;
    if (call.state === 'given') giveBack(state, call);
  }
  return null;
}

/** What the worker was given until now it has returned when it hears the answer. */
function quits({ loads }: RouterState, { worker, peer }: WorkerLine): void {
  if (worker === null) return;
  worker.duty = 'leaves';
  loads.refresh(worker);
  peer.send({ kind: 'leave' });
}

function onWanted(
  state: RouterState,
  line: WorkerLine,
  message: Extract<WorkerToRouter, { kind: 'wanted' }>,
): string | null {
  const { of, id, stream, from, upTo } = message;
  if (of === 'call') {
    const call = line.sessions[message.session]?.calls.get(id);
    if (call === undefined || call.worker !== line.worker || call.isDropped)
      return none(line, stream);
    const flaw = findFlaw(line, message, sizeOfCall(call));
    if (flaw === null) openRelay(line, { call, of: 'call', wish: message });
    return flaw;
  }
  for (const asset of line.told) {
    if (asset.number !== id) continue;
    const flaw = findFlaw(line, message, asset.size);
    const place = { position: from, upTo };
    if (flaw === null)
      read(state, { kind: 'reader', asset, sink: line, sinkStream: stream, ...place });
    return flaw;
  }
  return none(line, stream);
}

function none(line: WorkerLine, stream: number): null {
  line.peer.send({ kind: 'none', stream });
  return null;
}

function onHello(state: RouterState, line: WorkerLine, hello: WorkerHello): string | null {
  if (line.worker !== null) return 'a second hello';
  const worker = state.workers.get(hello.worker) ?? newWorker(hello.worker, state.now);
  if (worker.line !== null) {
    cut(state, worker.line, { detail: 'the worker has another line', isFinal: false });
  }
  state.workers.set(worker.name, worker);
  worker.isSuspended = state.suspended.has(worker.name);
  toHere(worker, line);
  // What it was told on another line may not have reached it.
  if (worker.duty === 'leaves') worker.duty = 'takes';
  worker.acks = [];
  worker.ackSession = null;
  line.worker = worker;
  const { generation } = state.options;
  line.peer.send({ kind: 'welcome', generation, heartbeatMs: CALL_HEARTBEAT_MS });
  // Another router had them: nobody knows how far they were.
  for (const id of hello.over) state.remember(id, state.over.get(id) ?? Number.POSITIVE_INFINITY);
  tellOver(state, line, hello);
  match(state, worker, hello);
  state.loads.refresh(worker);
  askAgain(worker.relays);
  accountFor(state, worker.name);
  return null;
}

/**
 * Tells a worker what was over before it came, to remember it: those that were told at the time may
 * have left when the next router asks. Of what it holds it hears by itself.
 */
function tellOver(state: RouterState, { peer }: WorkerLine, { over, held }: WorkerHello): void {
  const known = new Set([...over, ...held.map(({ session }) => session)]);
  for (const id of state.over.keys()) {
    // A client that has come back goes on with its id.
    if (known.has(id) || state.sessions.has(id)) continue;
    peer.send({ kind: 'over', id, isDetached: true });
  }
}

/** What it says it holds, against what we think it has. */
function match(state: RouterState, worker: Worker, { held }: WorkerHello): void {
  const found = new Set<Call>();
  for (const one of held) {
    const call = attach(state, worker, one);
    if (call !== null) found.add(call);
  }
  for (const call of [...worker.calls]) {
    if (found.has(call)) continue;
    // It never got there, or was returned on a line that broke: nothing of it has run.
    if (!isOver(call)) giveBack(state, call);
    else if (isFarAway(call)) lost(state, call, LOST_RESULT);
  }
}

/** The call that a worker holds, ours or made known by it; null when nobody wants it. */
function attach(state: RouterState, worker: Worker, held: Held): Call | null {
  const { line } = worker;
  if (line === null) return null;
  const session = sessionOf(state, held);
  if (session === null) {
    line.peer.send({ kind: 'over', id: held.session, isDetached: false });
    return null;
  }
  const number = numberOf(line, session);
  const known = session.calls.get(held.call);
  if (known?.worker === worker && known.attempt !== held.attempt) {
    line.peer.send({ kind: 'cancel', session: number, call: held.call });
    line.peer.send({ kind: 'ack', session: number, calls: [held.call] });
    return null;
  }
  if (known?.worker === worker) {
    if (held.state === 'running') onStarted(known);
    tellAssets(line, known);
    // One that we had given up as lost, and that it still runs, nobody waits for.
    const isWanted = !known.isCancelled && !known.isDropped && !isOver(known);
    if (!isWanted && held.state !== 'ended') {
      line.peer.send({ kind: 'cancel', session: number, call: held.call });
    }
    return known;
  }
  const isOpen = known === undefined ? !session.isSynced : known.state === 'limbo';
  if (!isOpen) {
    // Settled, or with another worker. The end that this one has is acknowledged when it comes.
    line.peer.send({ kind: 'cancel', session: number, call: held.call });
    return null;
  }
  const call = known ?? newCall(session, held.call);
  session.calls.set(held.call, call);
  session.highest = Math.max(session.highest, held.call);
  call.attempt = held.attempt;
  call.inline = null;
  tellAssets(line, call);
  assign(state, call, worker);
  if (held.state !== 'queued') onStarted(call);
  if (call.isCancelled) line.peer.send({ kind: 'cancel', session: number, call: held.call });
  return call;
}

/** The session of a held call; null when it is over. */
function sessionOf(state: RouterState, held: Held) {
  const known = state.sessions.get(held.session);
  if (known !== undefined) return known;
  if (state.over.has(held.session) || state.isClosed) return null;
  const session = newSession(held.session, state.now);
  state.sessions.set(session.id, session);
  return session;
}

/** The end is known to the client, but not its bytes. */
function isFarAway({ end: told }: Call): boolean {
  return told?.kind === 'result' && 'size' in told.payload;
}

const LOST_RESULT = 'Its worker was lost with the result, before the client had all of it.';

function lost(state: RouterState, call: Call, detail: string): void {
  fail(state, call, { why: 'worker_lost', detail });
}

/** Why a worker's calls are given up. */
interface Abandoned {
  readonly detail: string;
  /** What ran there may have brought it down. */
  readonly isBlamed: boolean;
}

/** The worker will not say any more what became of its calls. */
export function abandon(state: RouterState, worker: Worker, { detail, isBlamed }: Abandoned): void {
  for (const call of [...worker.calls]) {
    if (call.asset === null && !call.isDropped && !isOver(call)) {
      // Its client has not named it yet; when it does, this worker counts as lost.
      call.isDropped = true;
    }
    if (call.isDropped) {
      end(state, call, {
        kind: 'settled',
        call: call.number,
        why: 'worker_lost',
        detail,
        worker: null,
      });
    } else if (isOver(call)) {
      if (isFarAway(call)) lost(state, call, LOST_RESULT);
    } else {
      if (call.state === 'started' && isBlamed) countCrash(call);
      lost(state, call, detail);
    }
  }
  state.loads.refresh(worker);
}
