// Large payloads and assets on their way through the router: whoever wants bytes asks for them, the
// router asks whoever has them, and hands on what comes. Nothing is gathered but assets.

import { CALL_STREAM_BYTES_MAX, CALL_STREAMS_MAX } from '../../../../kernel/model/limits.ts';
import type { Body, More, Near, None, Stop } from '../messages.ts';
import { fetchArrived, fetchEnded, serve } from './assets.ts';
import type { Call, ClientLine, Reader, Relay, WorkerLine } from './records.ts';
import { numberOf, type RouterState } from './state.ts';

type AnyLine = ClientLine | WorkerLine;

/** Which bytes of what somebody asks for. */
export interface StreamRequest {
  readonly stream: number;
  readonly from: number;
  readonly upTo: number;
}

/** Why a wish cannot be one; null when it can. */
export function findFlaw(line: AnyLine, wish: StreamRequest, size: number): string | null {
  if (line.asked.has(wish.stream)) return `stream ${wish.stream} is open already`;
  if (line.asked.size >= CALL_STREAMS_MAX) return `more than ${CALL_STREAMS_MAX} streams`;
  if (wish.from > size) return `bytes from ${wish.from} of ${size}`;
  return overtaken(wish.from, wish.upTo);
}

function overtaken(position: number, upTo: number): string | null {
  if (upTo <= position + CALL_STREAM_BYTES_MAX) return null;
  return `more than ${CALL_STREAM_BYTES_MAX} bytes of a stream at once`;
}

/** A payload is wanted: asks whoever has it, at once or when that is back. */
export function openRelay(
  sink: AnyLine,
  {
    call,
    of,
    wish,
  }: { readonly call: Call; readonly of: Relay['of']; readonly wish: StreamRequest },
): void {
  const relay: Relay = {
    kind: 'relay',
    call,
    of,
    sink,
    sinkStream: wish.stream,
    source: null,
    sourceStream: 0,
    position: wish.from,
    upTo: wish.upTo,
  };
  sink.asked.set(wish.stream, relay);
  ownerOf(relay)?.relays.add(relay);
  ask(relay);
}

/** The bytes of a call's arguments; without end as long as its client has not named it again. */
export function sizeOfCall({ asset, size }: Call): number {
  return asset === null ? Number.POSITIVE_INFINITY : size;
}

function sizeOf({ call, of }: Relay): number {
  if (of === 'call') return sizeOfCall(call);
  const { end } = call;
  return end?.kind === 'result' && 'size' in end.payload ? end.payload.size : 0;
}

/** The side that is to send: it outlives its lines. */
function ownerOf({ call, of }: Relay) {
  return of === 'call' ? call.session : call.worker;
}

function ask(relay: Relay): void {
  const { call, of, position, upTo } = relay;
  const line = ownerOf(relay)?.line;
  if (line == null || relay.position === sizeOf(relay)) return;
  const stream = line.next;
  line.next += 1;
  relay.source = line;
  relay.sourceStream = stream;
  line.given.set(stream, relay);
  const part = { stream, from: position, upTo };
  const { number } = call;
  const isNear = isOnOneHost(relay.sink, line);
  if (of === 'call') {
    const { line: client } = call.session;
    if (isNear) client?.peer.send({ kind: 'wanted_near', call: number, ...part });
    else client?.peer.send({ kind: 'wanted', of: 'call', id: number, ...part });
  } else {
    const own = call.worker?.line;
    if (own == null) return;
    const session = numberOf(own, call.session);
    const kind = isNear ? 'wanted_near' : 'wanted';
    own.peer.send({ kind, session, call: number, ...part });
  }
}

function isOnOneHost(one: AnyLine, other: AnyLine): boolean {
  return one.host !== null && one.host === other.host;
}

/** Asks again for streams whose sender has a line again. */
export function askAgain(relays: ReadonlySet<Relay>): void {
  for (const relay of relays) if (relay.source === null) ask(relay);
}

/** Bytes have come; what is wrong with them, if anything. */
export function onBody(state: RouterState, line: AnyLine, { stream, bytes }: Body): string | null {
  const given = line.given.get(stream);
  // Late bytes of a stream that nobody wants any more.
  if (given === undefined)
    return stream < line.next ? null : `stream ${stream} was never asked for`;
  if (given.kind === 'fetch') return fetchArrived(state, given, bytes);
  const position = given.position + bytes.length;
  if (position > given.upTo || position > sizeOf(given)) return 'more bytes than were wanted';
  given.position = position;
  send(given.sink, { kind: 'body', stream: given.sinkStream, bytes });
  if (position === sizeOf(given)) closeRelay(given);
  return null;
}

/** All bytes lie where whoever wants them reads them by itself, and then stops the stream. */
export function onNear(line: AnyLine, { stream, file }: Near): string | null {
  const given = line.given.get(stream);
  if (given === undefined)
    return stream < line.next ? null : `stream ${stream} was never asked for`;
  if (given.kind === 'fetch' || !isOnOneHost(given.sink, line)) return 'it was not asked for so';
  send(given.sink, { kind: 'near', stream: given.sinkStream, file });
  return null;
}

function send(line: AnyLine, message: Body | More | Near | None | Stop): void {
  line.peer.send(message);
}

export function onMore(state: RouterState, line: AnyLine, { stream, upTo }: More): string | null {
  const asked = line.asked.get(stream);
  if (asked === undefined || upTo <= asked.upTo) return null;
  const flaw = overtaken(asked.position, upTo);
  if (flaw !== null) return flaw;
  asked.upTo = upTo;
  if (asked.kind === 'reader') serve(state, asked);
  else if (asked.source !== null) {
    send(asked.source, { kind: 'more', stream: asked.sourceStream, upTo });
  }
  return null;
}

/** Stops a stream that its reader does not want any more. */
export function onStop(line: AnyLine, { stream }: Stop): void {
  const asked = line.asked.get(stream);
  if (asked?.kind === 'relay') stopSource(asked);
  if (asked !== undefined) closeAsked(asked);
}

/** The source has no more bytes; returns the payload's owner. */
export function onNone(state: RouterState, line: AnyLine, { stream }: None): Relay | null {
  const given = line.given.get(stream);
  if (given?.kind === 'fetch') fetchEnded(state, given, 'stopped');
  if (given?.kind !== 'relay') return null;
  refuse(given);
  return given;
}

function refuse(relay: Relay): void {
  send(relay.sink, { kind: 'none', stream: relay.sinkStream });
  closeRelay(relay);
}

function stopSource(relay: Relay): void {
  if (relay.source === null) return;
  send(relay.source, { kind: 'stop', stream: relay.sourceStream });
}

function closeAsked(asked: Relay | Reader): void {
  if (asked.kind === 'relay') return closeRelay(asked);
  asked.sink.asked.delete(asked.sinkStream);
  asked.asset.readers.delete(asked);
}

function closeRelay(relay: Relay): void {
  relay.sink.asked.delete(relay.sinkStream);
  relay.source?.given.delete(relay.sourceStream);
  relay.source = null;
  ownerOf(relay)?.relays.delete(relay);
}

/** A call has no use for its payloads any more. Few are on their way at any time. */
export function closeRelaysOf(call: Call): void {
  for (const owner of [call.session, call.worker]) {
    if (owner === null || owner.relays.size === 0) continue;
    for (const relay of owner.relays) {
      if (relay.call !== call) continue;
      stopSource(relay);
      refuse(relay);
    }
  }
}

/** The line is gone: what it wanted is not wanted, what it sent is asked for when it is back. */
export function closeLine(state: RouterState, line: AnyLine): void {
  for (const asked of line.asked.values()) {
    if (asked.kind === 'relay') stopSource(asked);
    closeAsked(asked);
  }
  for (const given of [...line.given.values()]) {
    if (given.kind === 'fetch') fetchEnded(state, given, 'line gone');
    else given.source = null;
  }
  line.given.clear();
}
