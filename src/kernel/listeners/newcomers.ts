// Connections that have proven nobody yet, at any listener: bounded by address and in all, and of
// this machine's users none takes the room of another, so that a stranger who holds connections
// open can neither use up descriptors nor keep others out.

import type { Socket } from 'node:net';
import { networkOf } from './network.ts';
import type { PeerOwners } from './peer-owners.ts';
import { isOwnAddress, type PeerTable, readPeerTable } from './peer-uid.ts';
import { ownerOf } from './sub-uids.ts';

export interface Bounds {
  /** Most of one address over the network. */
  readonly perAddress: number;
  /** Over the network. */
  readonly total: number;
  /** Through a unix socket, all of which count as one address. */
  readonly local: number;
  /** Younger ones are not ended for others: the time in which an honest one says what it wants. */
  readonly graceMs: number;
}

/** How they are told apart; all but the first only a test brings. */
export interface Surroundings {
  /** Owners of connections to a unix socket; absent: unknown, and all of them count as one. */
  readonly owners?: Pick<PeerOwners, 'of'> | undefined;
  /** The kernel's table of connections. */
  readonly table?: () => PeerTable;
  /** Calls back after so long, when those who come in the same moments have come. */
  readonly defer?: (judge: () => void, afterMs: number) => void;
}

/** Share of what one address may have: a local user who holds more makes room for others. */
const USER_SHARE = 1 / 4;
/** How long a newcomer under pressure waits for a judgement: one look at the table does all. */
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
  owner: string | null | undefined;
  /** Whether its client is on this machine; undefined: nobody has looked yet. */
  isOwn?: boolean;
}

type Group = Map<unknown, Newcomer>;

const LOCAL = 'unix socket';

export class Newcomers {
  readonly #bounds: Bounds;
  readonly #now: () => number;
  readonly #table: () => PeerTable;
  readonly #owners: Surroundings['owners'];
  readonly #defer: (judge: () => void, afterMs: number) => void;
  /** Oldest first. A TLS socket is not the connection below it: both have the key. */
  readonly #all: Group = new Map();
  readonly #remote: Group = new Map();
  readonly #byAddress = new Map<string, Group>();
  /** Those who found no room, until it is known whose they are. */
  readonly #waiting: Group = new Map();
  /** The same through a unix socket. */
  readonly #locals: Group = new Map();
  #isJudging = false;
  /** When the judgements that are to come are due. */
  readonly #due = new Set<number>();
  #tableAt: number | null = null;

  /** `now`: a clock that never jumps. */
  constructor(now: () => number, bounds: Bounds, { owners, table, defer }: Surroundings = {}) {
    this.#now = now;
    this.#bounds = bounds;
    this.#owners = owners;
    this.#table = table ?? readPeerTable;
    this.#defer = defer ?? ((judge, afterMs) => void setTimeout(judge, afterMs).unref());
  }

  /** Counts a new connection: ends the one that has been silent for longest, or this one. */
  add(socket: Socket, local: boolean): void {
    const address = local ? LOCAL : networkOf(socket.remoteAddress ?? '');
    const key = keyOf(socket);
    const newcomer: Newcomer = { key, socket, address, since: this.#now(), owner: undefined };
    socket.once('close', () => this.#forget(key));
    if (local) this.#addLocal(newcomer);
    else if (this.#hasRoom(newcomer)) this.#take(newcomer, true);
    else this.#wait(newcomer);
  }

  /** Counts a connection as proven: it said what it wants, or is in a user's name from now on. */
  proven(socket: Socket): void {
    this.#forget(keyOf(socket));
  }

  #addLocal(newcomer: Newcomer): void {
    const hasRoom = this.#makeRoom(this.#of(LOCAL), this.#bounds.local);
    if (hasRoom || this.#owners === undefined) this.#take(newcomer, hasRoom);
    else if (this.#locals.size >= WAITING_MAX) newcomer.socket.destroy();
    else {
      this.#locals.set(newcomer.key, newcomer);
      if (!this.#isJudging) void this.#judgeLocals(this.#owners);
    }
  }

  /** Whose they are, and whose those are that are there, is known a moment later. */
  async #judgeLocals(owners: Pick<PeerOwners, 'of'>): Promise<void> {
    this.#isJudging = true;
    const learn = async (one: Newcomer): Promise<void> => {
      one.owner ??= await owners.of(one.socket);
    };
    while (this.#locals.size > 0) {
      const waiting = [...this.#locals.values()];
      const all = [...this.#of(LOCAL).values(), ...waiting];
      await Promise.all(all.filter(({ owner }) => owner === undefined).map(learn));
      this.#takeLocals(waiting);
    }
    this.#isJudging = false;
  }

  #takeLocals(waiting: readonly Newcomer[]): void {
    // Whose connection was refused: the others of the same are as well, without counting again.
    const refused = new Set<Newcomer['owner']>();
    for (const newcomer of waiting) {
      // It may have gone meanwhile.
      if (!this.#locals.delete(newcomer.key)) continue;
      const group = this.#of(LOCAL);
      const isIn =
        !refused.has(newcomer.owner) &&
        (this.#makeRoom(group, this.#bounds.local) || this.#takeFromGreedy(group, newcomer));
      if (!isIn) refused.add(newcomer.owner);
      this.#take(newcomer, isIn);
    }
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
      if (newcomer.owner === undefined) continue;
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
    const unknown = all.filter(({ owner }) => owner === undefined);
    for (const one of unknown) {
      one.isOwn ??= isOwnAddress(one.socket.remoteAddress ?? '');
      if (!one.isOwn) one.owner = null;
    }
    const own = unknown.filter(({ isOwn }) => isOwn);
    const now = this.#now();
    if (own.length === 0) return;
    if (this.#tableAt !== null && now - this.#tableAt < TABLE_EVERY_MS) return;
    this.#tableAt = now;
    const table = this.#table();
    for (const one of own) {
      const uid = table.uidOf(one.socket);
      one.owner = uid === null ? null : ownerOf(uid);
    }
  }

  #makeRoom(among: Group, max: number): boolean {
    if (among.size < max) return true;
    const [oldest] = among.values();
    if (oldest === undefined || this.#now() - oldest.since < this.#bounds.graceMs) return false;
    this.#end(oldest);
    return true;
  }

  /** From another user of this machine, who holds more than a share, however young they are. */
  #takeFromGreedy(among: Group, { owner, address }: Newcomer): boolean {
    const counts = new Map<string, number>();
    for (const one of among.values()) {
      if (typeof one.owner === 'string') counts.set(one.owner, (counts.get(one.owner) ?? 0) + 1);
    }
    const [most] = [...counts].sort(([, a], [, b]) => b - a);
    if (most === undefined || most[0] === owner) return false;
    const { local, perAddress } = this.#bounds;
    if (most[1] <= (address === LOCAL ? local : perAddress) * USER_SHARE) return false;
    const oldest = [...among.values()].find((one) => one.owner === most[0]);
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
    this.#locals.delete(key);
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
