// Connections that have proven nobody yet, at any door: bounded by address and in all, and of this
// machine's users none takes the room of another, so that a stranger who holds connections open can
// neither use up descriptors nor keep others out.

import type { Socket } from 'node:net';
import { networkOf } from './network.ts';
import { isOwnAddress, type PeerTable, readPeerTable } from './peer-uid.ts';

export interface Bounds {
  /** Most of one address over the network. */
  readonly perAddress: number;
  /** Over the network. */
  readonly total: number;
  /** Through a unix socket, all of which count as one address: no kernel's table has their uid. */
  readonly local: number;
  /** Younger ones are not ended for others: the time in which an honest one says what it wants. */
  readonly graceMs: number;
}

/** What a test brings its own of. */
export interface Surroundings {
  /** The kernel's table of connections. */
  readonly table?: () => PeerTable;
  /** Calls back after so long, when those who come in the same moments have come. */
  readonly defer?: (judge: () => void, afterMs: number) => void;
}

/** Share of what one address may have: a user of this machine who holds more makes room for others. */
const USER_SHARE = 1 / 4;
/** So long who comes under pressure waits for its judgement: one look at the table tells of all. */
const JUDGED_AFTER_MS = 10;
/** Between two looks at the table, which is as long as this machine's connections are many. */
const TABLE_EVERY_MS = 1000;
/** Most that wait at once; more are closed unseen. */
const WAITING_MAX = 1024;

interface Newcomer {
  readonly key: unknown;
  readonly socket: Socket;
  readonly address: string;
  readonly since: number;
  /** User of a client on this machine; null: of another one, or it cannot be told. */
  uid: number | null | undefined;
  /** Whether its client is on this machine; undefined: nobody has looked yet. */
  isOwn?: boolean;
}

type Group = Map<unknown, Newcomer>;

const LOCAL = 'unix socket';

export class Newcomers {
  readonly #bounds: Bounds;
  readonly #now: () => number;
  readonly #table: () => PeerTable;
  readonly #defer: (judge: () => void, afterMs: number) => void;
  /** Oldest first. A TLS socket is another object than the connection below it: both have the key. */
  readonly #all: Group = new Map();
  readonly #remote: Group = new Map();
  readonly #byAddress = new Map<string, Group>();
  /** Those who found no room, until it is known whose they are. */
  readonly #waiting: Group = new Map();
  /** When the judgements that are to come are due. */
  readonly #due = new Set<number>();
  #tableAt: number | null = null;

  /** `now`: a clock that never jumps. */
  constructor(now: () => number, bounds: Bounds, { table, defer }: Surroundings = {}) {
    this.#now = now;
    this.#bounds = bounds;
    this.#table = table ?? readPeerTable;
    this.#defer = defer ?? ((judge, afterMs) => void setTimeout(judge, afterMs).unref());
  }

  /** Counts a new connection: ends the one that has been silent for longest, or this one. */
  add(socket: Socket, local: boolean): void {
    const address = local ? LOCAL : networkOf(socket.remoteAddress ?? '');
    const key = keyOf(socket);
    const newcomer: Newcomer = { key, socket, address, since: this.#now(), uid: undefined };
    socket.once('close', () => this.#forget(key));
    if (local) this.#take(newcomer, this.#makeRoom(this.#of(address), this.#bounds.local));
    else if (this.#hasRoom(newcomer)) this.#take(newcomer, true);
    else this.#wait(newcomer);
  }

  /** It has said what it wants, or its requests are in somebody's name from now on. */
  proven(socket: Socket): void {
    this.#forget(keyOf(socket));
  }

  #hasRoom({ address }: Newcomer): boolean {
    if (this.#of(address).size >= this.#bounds.perAddress) return false;
    return this.#makeRoom(this.#remote, this.#bounds.total);
  }

  #take(newcomer: Newcomer, hasRoom: boolean): void {
    const { key, socket, address } = newcomer;
    if (!hasRoom) {
      socket.destroy();
      return;
    }
    this.#all.set(key, newcomer);
    if (address !== LOCAL) this.#remote.set(key, newcomer);
    this.#byAddress.set(address, this.#of(address).set(key, newcomer));
  }

  #wait(newcomer: Newcomer): void {
    if (this.#waiting.size >= WAITING_MAX) {
      newcomer.socket.destroy();
      return;
    }
    this.#waiting.set(newcomer.key, newcomer);
    this.#judgeAfter(JUDGED_AFTER_MS);
  }

  /** Unless there is a judgement by then anyway. */
  #judgeAfter(afterMs: number): void {
    const at = this.#now() + afterMs;
    if ([...this.#due].some((due) => due <= at)) return;
    this.#due.add(at);
    this.#defer(() => {
      this.#due.delete(at);
      this.#judge();
    }, afterMs);
  }

  #judge(): void {
    this.#learn();
    const { perAddress, total } = this.#bounds;
    for (const newcomer of [...this.#waiting.values()]) {
      // Of this machine, and whose it is the next look tells.
      if (newcomer.uid === undefined) continue;
      this.#waiting.delete(newcomer.key);
      const hasRoom = (among: Group, max: number): boolean =>
        this.#makeRoom(among, max) || this.#takeFromGreedy(among, newcomer);
      const isIn = hasRoom(this.#of(newcomer.address), perAddress) && hasRoom(this.#remote, total);
      this.#take(newcomer, isIn);
    }
    if (this.#waiting.size === 0 || this.#tableAt === null) return;
    this.#judgeAfter(Math.max(1, this.#tableAt + TABLE_EVERY_MS - this.#now()));
  }

  /** Whose they are: those of other machines are in no table of this one. */
  #learn(): void {
    const all = [...this.#remote.values(), ...this.#waiting.values()];
    const unknown = all.filter(({ uid }) => uid === undefined);
    for (const one of unknown) {
      one.isOwn ??= isOwnAddress(one.socket.remoteAddress ?? '');
      if (!one.isOwn) one.uid = null;
    }
    const own = unknown.filter(({ isOwn }) => isOwn);
    const now = this.#now();
    if (own.length === 0) return;
    if (this.#tableAt !== null && now - this.#tableAt < TABLE_EVERY_MS) return;
    this.#tableAt = now;
    const table = this.#table();
    for (const one of own) one.uid = table.uidOf(one.socket);
  }

  #makeRoom(among: Group, max: number): boolean {
    if (among.size < max) return true;
    const [oldest] = among.values();
    if (oldest === undefined || this.#now() - oldest.since < this.#bounds.graceMs) return false;
    this.#end(oldest);
    return true;
  }

  /** From another user of this machine, who holds more than a share, however young they are. */
  #takeFromGreedy(among: Group, { uid }: Newcomer): boolean {
    const counts = new Map<number, number>();
    for (const one of among.values()) {
      if (typeof one.uid === 'number') counts.set(one.uid, (counts.get(one.uid) ?? 0) + 1);
    }
    const [most] = [...counts].sort(([, a], [, b]) => b - a);
    if (most === undefined || most[0] === uid) return false;
    if (most[1] <= this.#bounds.perAddress * USER_SHARE) return false;
    const oldest = [...among.values()].find((one) => one.uid === most[0]);
    if (oldest !== undefined) this.#end(oldest);
    return oldest !== undefined;
  }

  #end({ key, socket }: Newcomer): void {
    this.#forget(key);
    socket.destroy();
  }

  #of(address: string): Group {
    return this.#byAddress.get(address) ?? new Map();
  }

  #forget(key: unknown): void {
    this.#waiting.delete(key);
    const newcomer = this.#all.get(key);
    if (newcomer === undefined) return;
    this.#all.delete(key);
    this.#remote.delete(key);
    const same = this.#byAddress.get(newcomer.address);
    same?.delete(key);
    if (same?.size === 0) this.#byAddress.delete(newcomer.address);
  }
}

function keyOf(socket: Socket): unknown {
  const { remoteAddress, remotePort } = socket;
  return remotePort === undefined ? socket : `${remoteAddress}:${remotePort}`;
}
