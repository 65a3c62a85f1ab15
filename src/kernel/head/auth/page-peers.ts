// Who is at the other end of connections on the loopback listener: the kernel's table of sockets
// tells the uid. So a session that a false head on that port has seen is of no use to it.

import { readPeerTable, type SocketEnds } from '../../listeners/peer-uid.ts';

/** The other end of a connection on the loopback listener. */
export interface PagePeer {
  /** Null: cannot be told. */
  readonly uid: number | null;
}

export class PagePeers {
  readonly #peers = new WeakMap<object, PagePeer>();

  /** A connection on the loopback listener. */
  add(socket: SocketEnds): void {
    this.#peers.set(socket, new Peer(socket));
  }

  /** Returns null when it came through another listener. */
  of(socket: object): PagePeer | null {
    return this.#peers.get(socket) ?? null;
  }
}

/** Looked up when first asked for, and kept: the table is long on a busy machine. */
class Peer implements PagePeer {
  readonly #socket: SocketEnds;
  #uid: number | null = null;

  constructor(socket: SocketEnds) {
    this.#socket = socket;
  }

  get uid(): number | null {
    this.#uid ??= readPeerTable().uidOf(this.#socket);
    return this.#uid;
  }
}
