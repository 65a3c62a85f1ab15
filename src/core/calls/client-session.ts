// The client's side of its calls: sends them as there is room, again after every break, and settles
// each once. A pure machine: wishes, messages, lost lines and ticks go in, messages and ends come
// out.

import { unreachable } from '../base/assert.ts';
import { CALL_HEARTBEAT_MS, CALL_INLINE_BYTES_MAX, CALL_SILENT_MS } from '../model/limits.ts';
import { CallTable } from './call-table.ts';
import { Fifo } from './fifo.ts';
import { type Gathering, gather, Incoming } from './incoming.ts';
import type {
  AssetNumber,
  Bytes,
  CallNumber,
  ClientToRouter,
  ClientWelcome,
  PoolNumbers,
  RouterToClient,
  SettledWhy,
} from './messages.ts';
import { Outgoing } from './outgoing.ts';
import type { Peer } from './peer.ts';

/** How a call ended, with all its bytes. */
export type CallEnd =
  | {
      readonly kind: 'result';
      readonly ok: boolean;
      readonly attempt: number;
      readonly bytes: Bytes;
    }
  | {
      readonly kind: 'settled';
      readonly why: SettledWhy;
      readonly detail: string;
      readonly worker: string | null;
    };

export interface ClientEvents {
  /** Once for each call. */
  ended(call: CallNumber, end: CallEnd): void;
  started(call: CallNumber, attempt: number, worker: string): void;
  progress(call: CallNumber, bytes: Bytes): void;
  numbers(pool: PoolNumbers): void;
  /** The router takes this client for the last time: it is not dialed again. */
  closed(detail: string): void;
}

export interface ClientOptions {
  /** 128 random bits in hex. */
  readonly session: string;
  readonly detach: boolean;
  readonly label: string;
}

export interface NewCall {
  readonly asset: AssetNumber;
  readonly shared: readonly AssetNumber[];
  readonly retriesMax: number;
  readonly timeoutMs: number;
  readonly payload: Bytes;
}

interface OwnAsset {
  readonly number: AssetNumber;
  readonly sha256: string;
  readonly bytes: Bytes;
}

/** A class, and no spread literal: a million of them are made in a row. */
class OwnCall implements NewCall {
  readonly number: CallNumber;
  readonly asset: AssetNumber;
  readonly shared: readonly AssetNumber[];
  readonly retriesMax: number;
  readonly timeoutMs: number;
  readonly payload: Bytes;
  /** The life of the router in which it was first sent; null before. */
  generation: string | null = null;
  since = 0;
  attempt = 0;
  isCancelled = false;
  /** A large result that is on its way. */
  result: { readonly ok: boolean; readonly attempt: number; readonly into: Gathering } | null =
    null;

  constructor(number: CallNumber, call: NewCall) {
    this.number = number;
    this.asset = call.asset;
    this.shared = call.shared;
    this.retriesMax = call.retriesMax;
    this.timeoutMs = call.timeoutMs;
    this.payload = call.payload;
  }
}

interface Line {
  readonly peer: Peer<ClientToRouter>;
  readonly outgoing: Outgoing;
  readonly incoming: Incoming<OwnCall>;
  readonly told: Set<AssetNumber>;
  /** Results to be fetched when others are. */
  readonly results: Fifo<OwnCall>;
  isWelcome: boolean;
  heardAt: number;
  pingAt: number;
}

/** Large results that are fetched at a time: one slow reader needs no more. */
const RESULTS_AT_A_TIME = 8;

export class ClientSession {
  readonly #options: ClientOptions;
  readonly #events: ClientEvents;
  readonly #calls = new CallTable<OwnCall>();
  readonly #unsent = new Fifo<OwnCall>();
  readonly #assets = new Map<AssetNumber, OwnAsset>();
  #line: Line | null = null;
  #generation: string | null = null;
  #losses = 0;
  #windowCalls = 0;
  #windowBytes = 0;
  #nextCall = 1;
  #nextAsset = 1;
  #acks: CallNumber[] = [];
  #closed: { readonly why: SettledWhy; readonly detail: string } | null = null;

  constructor(options: ClientOptions, events: ClientEvents) {
    this.#options = options;
    this.#events = events;
  }

  /** Calls that are not over. */
  get openCalls(): number {
    return this.#calls.size;
  }

  /** Calls that wait here for room at the router. */
  get unsentCalls(): number {
    return this.#unsent.length;
  }

  /** A function or a shared value; its bytes stay as they are as long as the session. */
  addAsset(sha256: string, bytes: Bytes): AssetNumber {
    const number = this.#nextAsset;
    this.#nextAsset += 1;
    this.#assets.set(number, { number, sha256, bytes });
    return number;
  }

  /** Why nothing can be submitted any more; null as long as it can. */
  get closed(): { readonly why: SettledWhy; readonly detail: string } | null {
    return this.#closed;
  }

  /** The payload stays as it is until the call is over. Null when the session is closed. */
  submit(call: NewCall): CallNumber | null {
    if (this.#closed !== null) return null;
    const number = this.#nextCall;
    this.#nextCall += 1;
    const own = new OwnCall(number, call);
    this.#calls.set(number, own);
    this.#unsent.push(own);
    this.#sendUnsent();
    return number;
  }

  /** It ends as cancelled, unless it ends otherwise first. */
  cancel(call: CallNumber): void {
    const own = this.#calls.get(call);
    if (own === undefined || own.isCancelled) return;
    own.isCancelled = true;
    if (own.generation === null) {
      this.#end(own, settled('cancelled', 'It was cancelled before it was sent.'));
    } else if (this.#line?.isWelcome) this.#line.peer.send({ kind: 'cancel', call });
  }

  /** A line to the router is there; an older one counts no more. */
  open(peer: Peer<ClientToRouter>, now: number) {
    this.#line?.peer.close();
    const line: Line = {
      peer,
      outgoing: new Outgoing((message) => peer.send(message)),
      incoming: new Incoming((message) => peer.send(message)),
      ...{ told: new Set(), results: new Fifo(), isWelcome: false, heardAt: now, pingAt: now },
    };
    this.#line = line;
    const { session, detach, label } = this.#options;
    peer.send({ kind: 'hello', session, generation: this.#generation, detach, label });
    return {
      take: (messages: readonly RouterToClient[], at: number): void => {
        line.heardAt = at;
        for (const message of messages) if (this.#line === line) this.#take(line, message);
        this.#flushAcks();
      },
      gone: (): void => this.#gone(line),
    };
  }

  /** Every second or so. */
  tick(now: number): void {
    const line = this.#line;
    if (line === null) return;
    if (now - line.heardAt >= CALL_SILENT_MS) {
      line.peer.close();
      this.#gone(line);
    } else if (now - line.pingAt >= CALL_HEARTBEAT_MS) {
      line.pingAt = now;
      line.peer.send({ kind: 'ping' });
    }
  }

  /** Says goodbye: what is open is cancelled. */
  close(): void {
    this.#line?.peer.send({ kind: 'bye' });
    this.#closeAll('cancelled', 'The client has closed the pool.');
  }

  /** Nobody expects the router to be back: what is open ends as `gone`, or with the pool. */
  giveUp(detail: string, why: 'gone' | 'pool_closed' = 'gone'): void {
    this.#closeAll(why, detail);
  }

  #closeAll(why: SettledWhy, detail: string): void {
    if (this.#closed !== null) return;
    this.#closed = { why, detail };
    this.#line?.peer.close();
    this.#line = null;
    for (const own of this.#calls.values()) this.#end(own, settled(why, detail));
  }

  #gone(line: Line): void {
    if (this.#line !== line) return;
    this.#line = null;
    this.#acks = [];
  }

  #take(line: Line, message: RouterToClient): void {
    switch (message.kind) {
      case 'result':
        return this.#onResult(line, message);
      case 'taken':
        this.#windowCalls += message.calls;
        this.#windowBytes += message.bytes;
        return this.#sendUnsent();
      case 'settled': {
        const { why, detail, worker } = message;
        return this.#over(message.call, { kind: 'settled', why, detail, worker });
      }
      case 'started':
        return this.#onStarted(message);
      case 'progress':
        if (this.#calls.has(message.call)) this.#events.progress(message.call, message.bytes);
        return;
      case 'pool':
        this.#losses = Math.max(this.#losses, message.losses);
        return this.#events.numbers(message);
      case 'welcome':
        return this.#onWelcome(line, message);
      case 'closing':
        return this.#onClosing(message);
      case 'pong':
        return;
      default:
        return this.#takeStream(line, message);
    }
  }

  #takeStream(
    line: Line,
    message: Extract<RouterToClient, { kind: 'wanted' | 'more' | 'stop' | 'none' | 'body' }>,
  ): void {
    switch (message.kind) {
      case 'wanted':
        return line.outgoing.open(message, this.#bytesOf(message.of, message.id));
      case 'more':
        return line.outgoing.more(message);
      case 'stop':
        return line.outgoing.stop(message);
      case 'none': {
        const own = line.incoming.none(message);
        // What became of it is told by another message.
        if (own !== null) own.result = null;
        return this.#fetchResults(line);
      }
      case 'body':
        return this.#onBody(line, line.incoming.body(message));
      default:
        return unreachable(message);
    }
  }

  #bytesOf(of: 'call' | 'asset', id: number): Bytes | null {
    if (of === 'call') return this.#calls.get(id)?.payload ?? null;
    return this.#assets.get(id)?.bytes ?? null;
  }

  #onWelcome(line: Line, { generation, losses, windowCalls, windowBytes }: ClientWelcome): void {
    line.isWelcome = true;
    this.#generation = generation;
    this.#losses = losses;
    this.#windowCalls = windowCalls;
    this.#windowBytes = windowBytes;
    for (const own of this.#calls.values()) {
      if (own.generation === null) continue;
      this.#send(line, own);
      if (own.isCancelled) line.peer.send({ kind: 'cancel', call: own.number });
    }
    line.peer.send({ kind: 'synced' });
    this.#sendUnsent();
  }

  /** Fills the window: one may go beyond its bytes. */
  #sendUnsent(): void {
    const line = this.#line;
    if (line === null || !line.isWelcome) return;
    for (;;) {
      const own = this.#unsent.first;
      if (own === undefined || this.#windowCalls <= 0 || this.#windowBytes <= 0) return;
      this.#unsent.shift();
      if (!this.#calls.has(own.number)) continue;
      own.generation = this.#generation;
      own.since = this.#losses;
      this.#send(line, own);
    }
  }

  #send(line: Line, own: OwnCall): void {
    this.#tell(line, own.asset);
    for (let at = 0; at < own.shared.length; at += 1) this.#tell(line, own.shared[at] as number);
    const { number: call, asset, retriesMax, timeoutMs, attempt, shared, payload } = own;
    const isInline = payload.length <= CALL_INLINE_BYTES_MAX;
    this.#windowCalls -= 1;
    if (isInline) this.#windowBytes -= payload.length;
    line.peer.send({
      kind: 'call',
      call,
      asset,
      retriesMax,
      timeoutMs,
      attempt,
      shared,
      since: own.generation === this.#generation ? null : own.since,
      payload: isInline ? { inline: payload } : { size: payload.length },
    });
  }

  #tell(line: Line, number: AssetNumber): void {
    if (line.told.has(number)) return;
    line.told.add(number);
    const asset = this.#assets.get(number);
    if (asset === undefined) return;
    const { sha256, bytes } = asset;
    const inline = bytes.length <= CALL_INLINE_BYTES_MAX ? bytes : null;
    line.peer.send({ kind: 'asset', asset: number, sha256, size: bytes.length, bytes: inline });
  }

  #onStarted({ call, attempt, worker }: Extract<RouterToClient, { kind: 'started' }>): void {
    const own = this.#calls.get(call);
    if (own === undefined) return;
    if (attempt > own.attempt) own.result = null;
    own.attempt = attempt;
    this.#events.started(call, attempt, worker);
  }

  #onResult(line: Line, message: Extract<RouterToClient, { kind: 'result' }>): void {
    const { call, ok, attempt, payload } = message;
    const own = this.#calls.get(call);
    if (own !== undefined) own.attempt = Math.max(own.attempt, attempt);
    if ('inline' in payload) {
      // A view into its frame: whoever keeps it makes a copy.
      return this.#over(call, { kind: 'result', ok, attempt, bytes: payload.inline });
    }
    if (own === undefined) {
      this.#acks.push(call);
      return;
    }
    const isSame = own.result?.attempt === attempt && own.result.into.bytes.length === payload.size;
    if (!isSame) {
      line.incoming.cancel(own);
      own.result = { ok, attempt, into: gather(payload.size) };
    }
    line.results.push(own);
    this.#fetchResults(line);
  }

  #fetchResults(line: Line): void {
    while (line.incoming.count < RESULTS_AT_A_TIME) {
      const own = line.results.shift();
      if (own === undefined) return;
      if (own.result === null || this.#calls.get(own.number) !== own) continue;
      const { number: call, result } = own;
      line.peer.send({ kind: 'wanted', call, ...line.incoming.ask(own, result.into) });
    }
  }

  #onBody(line: Line, whole: OwnCall | null | { readonly flaw: string }): void {
    if (whole === null) return;
    if ('flaw' in whole) {
      line.peer.close();
      return this.#gone(line);
    }
    const { result } = whole;
    if (result !== null) {
      const { ok, attempt, into } = result;
      this.#over(whole.number, { kind: 'result', ok, attempt, bytes: into.bytes });
    }
    this.#fetchResults(line);
  }

  /** Its end has come from the router, which hears that it has. */
  #over(call: CallNumber, end: CallEnd): void {
    this.#acks.push(call);
    const own = this.#calls.get(call);
    if (own === undefined) return;
    if (own.result !== null) this.#line?.incoming.cancel(own);
    this.#end(own, end);
  }

  #end(own: OwnCall, end: CallEnd): void {
    if (this.#calls.delete(own.number)) this.#events.ended(own.number, end);
  }

  #flushAcks(): void {
    const { length } = this.#acks;
    if (length === 0 || this.#line === null) return;
    const calls = this.#acks;
    this.#acks = [];
    this.#line.peer.send({ kind: 'ack', calls });
  }

  #onClosing({ detail, isFinal }: Extract<RouterToClient, { kind: 'closing' }>): void {
    if (!isFinal) return;
    this.#closeAll('pool_closed', detail);
    this.#events.closed(detail);
  }
}

function settled(why: SettledWhy, detail: string): CallEnd {
  return { kind: 'settled', why, detail, worker: null };
}
