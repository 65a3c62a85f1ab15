// What clients say to the router.

import { unreachable } from '../../../../kernel/base/assert.ts';
import {
  CALL_RETRIES_MAX,
  CALL_WINDOW_BYTES,
  CALL_WINDOW_CALLS,
} from '../../../../kernel/model/limits.ts';
import { kept } from '../kept.ts';
import type { ClientCall, ClientHello, ClientToRouter, Payload } from '../messages.ts';
import { announce, dropUnnamed, tellAssets, withdraw } from './assets.ts';
import { drop, enqueue, failAtWorker, release, settle } from './ends.ts';
import { cut, lineGone } from './lines.ts';
import { isOver } from './phases.ts';
import {
  type Asset,
  type Call,
  type ClientLine,
  type Inside,
  newCall,
  newSession,
  type Session,
} from './records.ts';
import { judge } from './recovery.ts';
import { over } from './sessions.ts';
import { numberOf, type RouterState, welcome } from './state.ts';
import {
  askAgain,
  findFlaw,
  onBody,
  onMore,
  onNear,
  onNone,
  onStop,
  openRelay,
} from './streams.ts';

/** One message; what is wrong with it, if anything: then the line is cut. */
export function takeFromClient(
  state: RouterState,
  line: ClientLine,
  message: ClientToRouter,
): string | null {
  if (message.kind === 'ping') {
    line.peer.send({ kind: 'pong' });
    return null;
  }
  const { session } = line;
  if (message.kind === 'hello') return onHello(state, line, message);
  if (session === null) return `'${message.kind}' before hello`;
  switch (message.kind) {
    case 'call':
      return onCall(state, session, message);
    case 'ack':
      return onAck(state, session, message.calls);
    case 'asset':
      return announce(state, session, message);
    case 'cancel':
      return onCancel(state, session, message.call);
    case 'synced':
      return onSynced(state, session);
    case 'wanted':
      return onWanted(line, session, message);
    case 'body':
      return onBody(state, line, message);
    case 'near':
      return onNear(line, message);
    case 'more':
      return onMore(state, line, message);
    case 'stop':
      onStop(line, message);
      return null;
    case 'none':
      onNone(state, line, message);
      return null;
    case 'bye':
      over(state, session, 'ended');
      line.session = null;
      line.peer.close();
      lineGone(state, line);
      return null;
    default:
      return unreachable(message);
  }
}

function onHello(state: RouterState, line: ClientLine, hello: ClientHello): string | null {
  if (line.session !== null) return 'a second hello';
  const known = state.sessions.get(hello.session);
  if (known === undefined && state.over.has(hello.session) && hello.generation === null) {
    return 'the session is over';
  }
  const session = known ?? newSession(hello.session, state.now);
  if (known === undefined) meetAgain(state, session, hello);
  if (session.line !== null) {
    cut(state, session.line, { detail: 'the client has another line', isFinal: false });
  }
  state.sessions.set(session.id, session);
  session.line = line;
  session.isSilent = false;
  line.session = session;
  session.detach = hello.detach;
  setInside(state, session, line.inside);
  session.label = hello.label;
  session.isSynced = hello.generation === null;
  session.round += 1;
  session.creditCalls = 0;
  session.creditBytes = 0;
  // The client counts its window anew, by what it sends again.
  for (const call of session.calls.values()) state.uncount(call);
  withdraw(session);
  welcome(state, line);
  askAgain(session.relays);
  state.hasNewcomer = true;
  return null;
}

function setInside(state: RouterState, session: Session, inside: Inside | null): void {
  const { pool } = inside ?? {};
  session.inside = pool === undefined ? inside : null;
  session.within = inside === null || pool === undefined ? null : { ...inside, pool };
  if (session.inside === null) state.inner.delete(session);
  else state.inner.add(session);
}

/** Known to the client and not to us, in the same life of the router: it was given up. */
function meetAgain(state: RouterState, session: Session, { generation }: ClientHello): void {
  const highest = state.over.get(session.id) ?? Number.POSITIVE_INFINITY;
  if (generation !== state.options.generation) return;
  session.lateUpTo = highest;
  session.highest = highest;
}

function onCall(state: RouterState, session: Session, message: ClientCall): string | null {
  const { call: number, payload } = message;
  if (number === 0) return 'a call without number';
  const asset = session.assets.get(message.asset);
  if (asset === undefined) return `call ${number} of a function that was not announced`;
  if (message.retriesMax > CALL_RETRIES_MAX) return `more than ${CALL_RETRIES_MAX} retries`;
  const shared = sharedOf(session, message.shared);
  if (shared === null) return `call ${number} with a value that was not announced`;
  const known = session.calls.get(number);
  if (known !== undefined) return again(state, known, { message, asset, shared });
  if (session.isSynced && isFull(session)) return 'more calls at once than the window allows';
  const call = newCall(session, number);
  fill(call, { message, asset, shared });
  session.calls.set(number, call);
  session.highest = Math.max(session.highest, number);
  state.count(call, inlineBytes(payload));
  if (number <= session.lateUpTo && !session.isSynced) return late(state, call);
  if (message.since !== null) judge(state, call);
  else enqueue(state, call, 'fresh');
  return null;
}

const NONE: readonly Asset[] = [];

/** Returns null when one of them was not announced. */
function sharedOf({ assets }: Session, numbers: readonly number[]): readonly Asset[] | null {
  if (numbers.length === 0) return NONE;
  const shared: Asset[] = [];
  for (const number of numbers) {
    const asset = assets.get(number);
    if (asset === undefined) return null;
    shared.push(asset);
  }
  return shared;
}

/** What was sent again may be beyond it: the client waits until it is not. */
function isFull({ windowCalls, windowBytes }: Session): boolean {
  return windowCalls >= CALL_WINDOW_CALLS || windowBytes >= CALL_WINDOW_BYTES;
}

function inlineBytes(payload: Payload): number {
  return 'inline' in payload ? payload.inline.length : 0;
}

interface Filling {
  readonly message: ClientCall;
  readonly asset: Asset;
  readonly shared: readonly Asset[];
}

function fill(call: Call, { message, asset, shared }: Filling): void {
  const { payload } = message;
  call.asset = asset;
  call.shared = shared;
  call.retriesMax = message.retriesMax;
  call.timeoutMs = message.timeoutMs;
  call.since = message.since;
  call.attempt = Math.max(call.attempt, message.attempt);
  call.inline = 'inline' in payload ? kept(payload.inline) : null;
  call.size = 'inline' in payload ? payload.inline.length : payload.size;
  call.round = call.session.round;
}

/** A call that we know is sent again: it is told how far that is. */
function again(state: RouterState, call: Call, filling: Filling): string | null {
  const { session } = call;
  if (session.isSynced) return `call ${call.number} twice`;
  const isNew = call.round !== session.round;
  call.round = session.round;
  if (call.asset === null) {
    fill(call, filling);
    // Its bytes are counted at its worker already, as none.
    call.inline = null;
    // Another line of the worker had the asset; on this one nobody has named it yet.
    if (call.worker?.line != null) tellAssets(call.worker.line, call);
  }
  if (!isNew) return null;
  state.count(call, inlineBytes(filling.message.payload));
  if (call.state === 'lost') failAtWorker(state, call, call.detail);
  if (call.state === 'queued' || call.state === 'limbo') return null;
  state.credit(call);
  if (call.end !== null) session.line?.peer.send(call.end);
  else if (call.state === 'started') {
    const { number, attempt, worker } = call;
    session.line?.peer.send({ kind: 'started', call: number, attempt, worker: worker?.name ?? '' });
  }
  return null;
}

/** The router had given the session up: its calls may have run. */
function late(state: RouterState, call: Call): string | null {
  call.attempt = Math.max(1, call.attempt);
  if (call.retriesMax >= call.attempt) enqueue(state, call, 'again');
  else {
    const detail = 'The client was away for so long that its calls were given up.';
    settle(state, call, { why: 'gone', detail });
  }
  return null;
}

/** What the client has not sent again it has no use for. */
function onSynced(state: RouterState, session: Session): string | null {
  if (session.isSynced) return null;
  session.isSynced = true;
  for (const call of session.calls.values()) {
    if (call.round === session.round || call.isDropped) continue;
    drop(state, call);
  }
  dropUnnamed(state, session);
  state.enter(session);
  return null;
}

function onAck(state: RouterState, session: Session, calls: readonly number[]): string | null {
  for (let at = 0; at < calls.length; at += 1) {
    const call = session.calls.get(calls[at] as number);
    // One that is not over is sent again after its result was lost with its worker.
    if (call !== undefined && isOver(call)) release(state, call);
  }
  return null;
}

function onCancel(state: RouterState, session: Session, number: number): string | null {
  const call = session.calls.get(number);
  if (call === undefined || isOver(call) || call.isCancelled) return null;
  if (call.state === 'queued') {
    settle(state, call, { why: 'cancelled', detail: 'It was cancelled before it started.' });
    return null;
  }
  call.isCancelled = true;
  const line = call.worker?.line;
  if (line != null) {
    line.peer.send({ kind: 'cancel', session: numberOf(line, session), call: number });
  }
  if (call.worker?.isSuspended === true) settle(state, call, CANCELLED_THERE);
  return null;
}

const CANCELLED_THERE = {
  why: 'cancelled',
  detail: 'It was cancelled while its worker was suspended; it is ended when that goes on.',
} as const;

function onWanted(
  line: ClientLine,
  session: Session,
  message: Extract<ClientToRouter, { kind: 'wanted' }>,
): string | null {
  const call = session.calls.get(message.call);
  const end = call?.end;
  if (call === undefined || end?.kind !== 'result' || !('size' in end.payload)) {
    // Its worker was lost meanwhile: the client hears of that.
    line.peer.send({ kind: 'none', stream: message.stream });
    return null;
  }
  const flaw = findFlaw(line, message, end.payload.size);
  if (flaw !== null) return flaw;
  openRelay(line, { call, of: 'result', wish: message });
  return null;
}
