// One line of a worker to its router: which sessions were told on it, and the large values that go over
// it both ways. What becomes of calls is in worker-session.ts.

import { unreachable } from '../../../../kernel/base/assert.ts';
import { type Gathering, Incoming } from '../incoming.ts';
import type { CallRef, RouterToWorker, WorkerToRouter } from '../messages.ts';
import { Outgoing } from '../outgoing.ts';
import type { Peer } from '../peer.ts';
import type { CallEntry, OwnAsset, WorkerSessionEntry } from './entries.ts';

/** What a line asks of its session. */
export interface LineOwner {
  /** All bytes are here. */
  arrived(whole: CallEntry | OwnAsset): void;
  /** No such message is received. */
  missed(key: CallEntry | OwnAsset): void;
}

export type StreamMessage = Extract<
  RouterToWorker,
  { kind: 'wanted' | 'more' | 'stop' | 'none' | 'body' }
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
    this.#outgoing = new Outgoing((message) => peer.send(message));
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
      case 'body': {
        const whole = this.#incoming.body(message);
        if (whole === null) return true;
        if ('flaw' in whole) return false;
        this.#owner.arrived(whole);
        return true;
      }
      default:
        return unreachable(message);
    }
  }

  /** The arguments of a call, as far as they are not here. */
  wantPayload(entry: CallEntry): void {
    const { into, session, call: id } = entry;
    if (into === null || session.number === null) return;
    if (into.position === into.bytes.length) return this.#owner.arrived(entry);
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
