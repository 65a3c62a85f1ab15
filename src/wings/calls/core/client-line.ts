// One line of a client to its router: what was told on it, and the large values that go over it
// both ways. What becomes of calls is in client-session.ts.

import { unreachable } from '../../../kernel/base/assert.ts';
import { CALL_ASSETS_MAX, CALL_INLINE_BYTES_MAX } from '../../../kernel/model/limits.ts';
import { Fifo } from './fifo.ts';
import { Gathering, Incoming, readsNear, type TakeNear } from './incoming.ts';
import type { AssetNumber, Bytes, ClientToRouter, RouterToClient } from './messages.ts';
import type { NearBytes } from './near.ts';
import { Outgoing } from './outgoing.ts';
import type { OwnCall } from './own-call.ts';
import type { Peer } from './peer.ts';

export interface OwnAsset {
  readonly number: AssetNumber;
  readonly sha256: string;
  readonly bytes: Bytes;
}

/** What a line asks of its session. */
export interface LineOwner {
  assetAt(number: AssetNumber): OwnAsset | undefined;
  /** Undefined: it is over. */
  callAt(number: number): OwnCall | undefined;
  /** All bytes of its result are here. */
  arrived(own: OwnCall): void;
  /** Null: large values go over the line. */
  readonly near: NearBytes | null;
}

export type StreamMessage = Extract<
  RouterToClient,
  { kind: 'wanted' | 'wanted_near' | 'more' | 'stop' | 'none' | 'body' | 'near' }
>;

/** Large results that are fetched at a time: one slow reader needs no more. */
const RESULTS_AT_A_TIME = 8;

export class ClientLine {
  readonly peer: Peer<ClientToRouter>;
  isWelcome = false;
  heardAt: number;
  pingAt: number;
  readonly #owner: LineOwner;
  readonly #outgoing: Outgoing;
  readonly #incoming: Incoming<OwnCall>;
  readonly #takeNear: TakeNear;
  readonly #told = new Set<AssetNumber>();
  /** Results to be fetched when others are. */
  readonly #results = new Fifo<OwnCall>();

  constructor(peer: Peer<ClientToRouter>, owner: LineOwner, now: number) {
    this.peer = peer;
    this.#owner = owner;
    this.#outgoing = new Outgoing((message) => peer.send(message), owner.near);
    this.#incoming = new Incoming((message) => peer.send(message));
    this.#takeNear = readsNear(owner.near);
    this.heardAt = now;
    this.pingAt = now;
  }

  /** False: what came cannot be, and the line is of no more use. */
  take(message: StreamMessage): boolean {
    switch (message.kind) {
      case 'wanted':
        this.#outgoing.open(message, this.#bytesOf(message.of, message.id));
        return true;
      case 'wanted_near': {
        const own = this.#owner.callAt(message.call);
        const isNear = this.#outgoing.openNear(message, own?.payload ?? null);
        if (own !== undefined && !isNear) own.isOnLine = true;
        return true;
      }
      case 'more':
        this.#outgoing.more(message);
        return true;
      case 'stop':
        this.#outgoing.stop(message);
        return true;
      case 'none': {
        const own = this.#incoming.none(message);
        // What became of it is told by another message.
        if (own !== null) own.result = null;
        this.#fetchResults();
        return true;
      }
      case 'body':
        return this.#onBody(this.#incoming.body(message));
      case 'near':
        return this.#onBody(this.#incoming.near(message, this.#takeNear));
      default:
        return unreachable(message);
    }
  }

  /** What it offers others is theirs no more. */
  end(): void {
    this.#outgoing.end();
  }

  /** Whether the router takes so many functions and values on one line. */
  canTell({ asset, shared }: OwnCall): boolean {
    if (this.#told.size + 1 + shared.length <= CALL_ASSETS_MAX) return true;
    const fresh = new Set([asset, ...shared].filter((one) => !this.#told.has(one)));
    return this.#told.size + fresh.size <= CALL_ASSETS_MAX;
  }

  /** The router knows this function or shared value from now on. */
  tell(number: AssetNumber): void {
    if (this.#told.has(number)) return;
    this.#told.add(number);
    const asset = this.#owner.assetAt(number);
    if (asset === undefined) return;
    const { sha256, bytes } = asset;
    const inline = bytes.length <= CALL_INLINE_BYTES_MAX ? bytes : null;
    this.peer.send({ kind: 'asset', asset: number, sha256, size: bytes.length, bytes: inline });
  }

  /** A large result is with the router. */
  want(
    own: OwnCall,
    of: { readonly ok: boolean; readonly attempt: number; readonly size: number },
  ): void {
    const { ok, attempt, size } = of;
    const isSame = own.result?.attempt === attempt && own.result.into.size === size;
    if (!isSame) {
      this.#incoming.cancel(own);
      own.result = { ok, attempt, into: new Gathering(size) };
    }
    this.#results.push(own);
    this.#fetchResults();
  }

  /** Drops a call from the line: it has ended otherwise. */
  unwant(own: OwnCall): void {
    if (own.result !== null) this.#incoming.cancel(own);
  }

  #bytesOf(of: 'call' | 'asset', id: number): Bytes | null {
    if (of === 'asset') return this.#owner.assetAt(id)?.bytes ?? null;
    const own = this.#owner.callAt(id);
    if (own === undefined) return null;
    own.isOnLine = true;
    return own.payload;
  }

  #fetchResults(): void {
    while (this.#incoming.count < RESULTS_AT_A_TIME) {
      const own = this.#results.shift();
      if (own === undefined) return;
      if (own.result === null || this.#owner.callAt(own.number) !== own) continue;
      const { number: call, result } = own;
      this.peer.send({ kind: 'wanted', call, ...this.#incoming.ask(own, result.into) });
    }
  }

  #onBody(whole: OwnCall | null | { readonly flaw: string }): boolean {
    if (whole === null) return true;
    if ('flaw' in whole) return false;
    this.#owner.arrived(whole);
    this.#fetchResults();
    return true;
  }
}
