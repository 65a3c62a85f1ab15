// One line of a worker to its router: which sessions were told on it, and the large values that go
// over it both ways. What becomes of calls is in worker-session.ts.

import { unreachable } from '../../../../kernel/base/assert.ts';
import { type Gathering, Incoming, type TakeNear } from '../incoming.ts';
import type { CallRef, RouterToWorker, WorkerToRouter } from '../messages.ts';
import type { NearBytes } from '../near.ts';
import { Outgoing } from '../outgoing.ts';
import type { Peer } from '../peer.ts';
import type { CallEntry, OwnAsset, WorkerSessionEntry } from './entries.ts';

/** What a line asks of its session. */
export interface LineOwner {
  /** All bytes are here. */
  arrived(whole: CallEntry | OwnAsset): void;
  /** No such message is received. */
  missed(key: CallEntry | OwnAsset): void;
  /** Null: large values go over the line. */
  readonly near: NearBytes | null;
  /** How a large value is taken that lies in memory. */
  readonly takeNear: TakeNear;
}

export type StreamMessage = Extract<
  RouterToWorker,
  { kind: 'wanted' | 'wanted_near' | 'more' | 'stop' | 'none' | 'body' | 'near' }
>;

export class WorkerLine {
  readonly peer: Peer<WorkerToRouter>;
  /** By the numbers of this line. */
  readonly sessions = new Map<number, WorkerSessionEntry>();
  heardAt: number;
  readonly #owner: LineOwner;
  readonly #incoming: Incoming<CallEntry | OwnAsset>;
  readonly #outgoing: Outgoing;

  constructor(peer: Peer<WorkerToRouter>, owner: LineOwner, now: number) {
    this.peer = peer;
    this.#owner = owner;
    this.heardAt = now;
    this.#outgoing = new Outgoing((message) => peer.send(message), owner.near);
    this.#incoming = new Incoming((message) => peer.send(message));
  }

  entryAt({ session, call }: CallRef): CallEntry | undefined {
    return this.sessions.get(session)?.calls.get(call);
  }

  /** False: what came cannot be, and the line is of no more use. */
  take(message: StreamMessage): boolean {
    switch (message.kind) {
      case 'wanted':
        this.#outgoing.open(message, this.entryAt(message)?.result ?? null);
        return true;
      case 'wanted_near':
        this.#outgoing.openNear(message, this.entryAt(message)?.result ?? null);
        return true;
      case 'more':
        this.#outgoing.more(message);
        return true;
      case 'stop':
        this.#outgoing.stop(message);
        return true;
      case 'none': {
        const key = this.#incoming.none(message);
        if (key !== null) this.#owner.missed(key);
        return true;
      }
      case 'body':
        return this.#onBody(this.#incoming.body(message));
      case 'near':
        return this.#onBody(this.#incoming.near(message, this.#owner.takeNear));
      default:
        return unreachable(message);
    }
  }

  #onBody(whole: CallEntry | OwnAsset | null | { readonly flaw: string }): boolean {
    if (whole === null) return true;
    if ('flaw' in whole) return false;
    this.#owner.arrived(whole);
    return true;
  }

  /** What it offers others is theirs no more. */
  end(): void {
    this.#outgoing.end();
  }

  /** The arguments of a call, as far as they are not here. */
  wantPayload(entry: CallEntry): void {
    const { into, session, call: id } = entry;
    if (into === null || session.number === null) return;
    if (into.isWhole) return this.#owner.arrived(entry);
    const part = this.#incoming.ask(entry, into);
    this.peer.send({ kind: 'wanted', of: 'call', session: session.number, id, ...part });
  }

  /** A function or a shared value. */
  wantAsset(asset: OwnAsset, { number: id, into }: { number: number; into: Gathering }): void {
    const part = this.#incoming.ask(asset, into);
    this.peer.send({ kind: 'wanted', of: 'asset', session: 0, id, ...part });
  }

  /** Nobody waits for its bytes any more. */
  unwant(entry: CallEntry): void {
    this.#incoming.cancel(entry);
  }
}
