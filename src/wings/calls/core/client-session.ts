// The client's side of its calls: sends them as there is room, again after every break, and settles
// each once. A pure machine: wishes, messages, lost lines and ticks go in, messages and ends come
// out.

import {
  CALL_ASSETS_MAX,
  CALL_HEARTBEAT_MS,
  CALL_INLINE_BYTES_MAX,
  CALL_SILENT_MS,
} from '../../../kernel/model/limits.ts';
import { CallTable } from './call-table.ts';
import { ClientLine, type LineOwner, type OwnAsset } from './client-line.ts';
import { Fifo, isMostlyOver } from './fifo.ts';
import { release } from './kept.ts';
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
import type { NearBytes } from './near.ts';
import { type CallEnd, type NewCall, OwnCall } from './own-call.ts';
import type { Peer } from './peer.ts';

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
  /** Absent: large values go over the line. */
  readonly near?: NearBytes;
}

export class ClientSession {
  readonly #options: ClientOptions;
  readonly #events: ClientEvents;
  readonly #calls = new CallTable<OwnCall>();
  readonly #unsent = new Fifo<OwnCall>();
  readonly #assets = new Map<AssetNumber, OwnAsset>();
  readonly #owner: LineOwner;
  #line: ClientLine | null = null;
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
    this.#owner = {
      assetAt: (number) => this.#assets.get(number),
      callAt: (number) => this.#calls.get(number),
      arrived: (own) => this.#arrived(own),
      near: options.near ?? null,
    };
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

  /** Drops those of these assets that no open call needs, and says which. */
  forgetAssets(numbers: Iterable<AssetNumber>): AssetNumber[] {
    const needed = assetsOf(this.#calls.values());
    return [...numbers].filter((number) => !needed.has(number) && this.#assets.delete(number));
  }

  /** Why nothing can be submitted any more; null as long as it can. */
  get closed(): { readonly why: SettledWhy; readonly detail: string } | null {
    return this.#closed;
  }

  /** The payload is the session's: freed when the call is over. Null when the session is closed. */
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

  /** Cancels a call, unless it ends otherwise first. */
  cancel(call: CallNumber): void {
    const own = this.#calls.get(call);
    if (own === undefined || own.isCancelled) return;
    own.isCancelled = true;
    if (own.generation === null) {
      this.#end(own, settled('cancelled', 'It was cancelled before it was sent.'));
    } else if (this.#line?.isWelcome) this.#line.peer.send({ kind: 'cancel', call });
  }

  /** Ends a call whose time is over, here and now and wherever it runs. */
  expire(call: CallNumber, detail: string): void {
    const own = this.#calls.get(call);
    if (own === undefined) return;
    if (own.generation !== null && this.#line?.isWelcome)
      this.#line.peer.send({ kind: 'cancel', call });
    this.#line?.unwant(own);
    this.#end(own, settled('timeout', detail));
  }

  /** A line to the router is there; an older one counts no more. */
  open(peer: Peer<ClientToRouter>, now: number) {
    this.#line?.peer.close();
    this.#line?.end();
    const line = new ClientLine(peer, this.#owner, now);
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
    this.#line?.end();
    this.#line = null;
    for (const own of this.#calls.values()) this.#end(own, settled(why, detail));
  }

  #gone(line: ClientLine): void {
    if (this.#line !== line) return;
    line.end();
    this.#line = null;
    this.#acks = [];
  }

  #take(line: ClientLine, message: RouterToClient): void {
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
        if (!line.take(message)) this.#cut(line);
    }
  }

  /** On a new line only what the open calls need is named, which leaves room for others. */
  #renew(line: ClientLine): void {
    const sent = [...this.#calls.values()].filter(({ generation }) => generation !== null);
    if (assetsOf(sent).size <= CALL_ASSETS_MAX / 2) this.#cut(line);
  }

  #cut(line: ClientLine): void {
    line.peer.close();
    this.#gone(line);
  }

  #onWelcome(
    line: ClientLine,
    { generation, losses, windowCalls, windowBytes }: ClientWelcome,
  ): void {
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
      if (!line.canTell(own)) return this.#renew(line);
      this.#unsent.shift();
      if (!this.#calls.has(own.number)) continue;
      own.generation = this.#generation;
      own.since = this.#losses;
      this.#send(line, own);
    }
  }

  #send(line: ClientLine, own: OwnCall): void {
    line.tell(own.asset);
    for (let at = 0; at < own.shared.length; at += 1) line.tell(own.shared[at] as number);
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

  #onStarted({ call, attempt, worker }: Extract<RouterToClient, { kind: 'started' }>): void {
    const own = this.#calls.get(call);
    if (own === undefined) return;
    if (attempt > own.attempt) own.result = null;
    own.attempt = attempt;
    this.#events.started(call, attempt, worker);
  }

  #onResult(line: ClientLine, message: Extract<RouterToClient, { kind: 'result' }>): void {
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
    line.want(own, { ok, attempt, size: payload.size });
  }

  /** All bytes of its large result are here. */
  #arrived({ number, result }: OwnCall): void {
    if (result === null) return;
    const { ok, attempt, into } = result;
    this.#over(number, { kind: 'result', ok, attempt, bytes: into.bytes });
  }

  /** Takes the end of a call from the router, which hears that it has come. */
  #over(call: CallNumber, end: CallEnd): void {
    this.#acks.push(call);
    const own = this.#calls.get(call);
    if (own === undefined) return;
    this.#line?.unwant(own);
    this.#end(own, end);
  }

  #end(own: OwnCall, end: CallEnd): void {
    if (!this.#calls.delete(own.number)) return;
    // Payloads of what was cancelled would stay here as long as the line is away.
    if (isMostlyOver(this.#unsent.length, this.#calls.size)) {
      this.#unsent.retain(({ number }) => this.#calls.has(number));
    }
    this.#events.ended(own.number, end);
    if (!own.isOnLine) release(own.payload);
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

function assetsOf(calls: Iterable<OwnCall>): Set<AssetNumber> {
  const numbers = new Set<AssetNumber>();
  for (const { asset, shared } of calls) {
    numbers.add(asset);
    for (const one of shared) numbers.add(one);
  }
  return numbers;
}

function settled(why: SettledWhy, detail: string): CallEnd {
  return { kind: 'settled', why, detail, worker: null };
}
