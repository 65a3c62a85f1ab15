// Who is at the other end of connections on the loopback door: the kernel's table of sockets tells
// the uid. So a session that a false head on that port has seen is of no use to it.

import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';

/** An established connection in the table; its owner cannot be told once the client has closed it. */
const ESTABLISHED = '01';

/** The part of a socket that names its connection. */
export interface SocketEnds {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

/** The other end of a connection on the loopback door. */
export interface PagePeer {
  /** Null: cannot be told. */
  readonly uid: number | null;
}

export class PagePeers {
  readonly #peers = new WeakMap<object, PagePeer>();

  /** A connection on the loopback door. */
  add(socket: SocketEnds): void {
    this.#peers.set(socket, new Peer(socket));
  }

  /** Null: it came through another door. */
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
    // A client may use an IPv6 socket for IPv4.
    for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
      this.#uid ??= uidIn(readTable(table), this.#socket);
    }
    return this.#uid;
  }
}

/** The uid of the client's socket in a table like /proc/net/tcp; null: it is not there. */
export function uidIn(table: string, ends: SocketEnds): number | null {
  const { remoteAddress, remotePort, localAddress, localPort } = ends;
  const client = formatEnds(remoteAddress, remotePort);
  const head = formatEnds(localAddress, localPort);
  for (const line of table.split('\n')) {
    const [, local, remote, state, , , , uid] = line.trim().split(/\s+/);
    if (state !== ESTABLISHED || local === undefined || remote === undefined) continue;
    if (client.includes(local) && head.includes(remote)) return Number(uid);
  }
  return null;
}

/** An end as both tables write it: words of 32 bits as they lie in memory, then the port. */
function formatEnds(address = '', port = 0): readonly string[] {
  const isLittle = endianness() === 'LE';
  const bytes = address.split('.').map((part) => hex(Number(part), 2));
  const word = (isLittle ? bytes.reverse() : bytes).join('');
  const mapped = `${'0'.repeat(16)}${isLittle ? 'FFFF0000' : '0000FFFF'}${word}`;
  return [word, mapped].map((text) => `${text}:${hex(port, 4)}`);
}

function hex(number: number, digits: number): string {
  return number.toString(16).toUpperCase().padStart(digits, '0');
}

function readTable(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // No Linux, or no /proc: the door alone counts then.
  }
}
