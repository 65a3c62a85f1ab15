// Whose process is at the other end of a TCP connection within this machine: the kernel's table of
// sockets tells the uid. Of unix sockets no table tells it.

import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { endianness } from 'node:os';
import { groupsOf, plainAddress } from './network.ts';
import { ownInterfaces } from './own-addresses.ts';

/** An established connection in the table; once the client closed it, its owner is unknown. */
const ESTABLISHED = '01';
/** A client may use an IPv6 socket for IPv4. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];

/** The part of a socket that names its connection. */
export interface SocketEnds {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

/** Connections within this machine, from a table like /proc/net/tcp: whose client each has. */
export class PeerTable {
  /** By both ends as the table writes them, the client's first. */
  readonly #uids = new Map<string, number>();

  constructor(table: string) {
    for (const line of table.split('\n')) {
      const [, local, remote, state, , , , uid] = line.trim().split(/\s+/);
      if (state === ESTABLISHED) this.#uids.set(`${local} ${remote}`, Number(uid));
    }
  }

  /** The uid of the client's socket; null: it is not there. */
  uidOf(ends: SocketEnds): number | null {
    const { remoteAddress, remotePort, localAddress, localPort } = ends;
    for (const client of formatEnds(remoteAddress, remotePort)) {
      for (const server of formatEnds(localAddress, localPort)) {
        const uid = this.#uids.get(`${client} ${server}`);
        if (uid !== undefined) return uid;
      }
    }
    return null;
  }
}

/** All connections of this machine at this moment; empty where there is no /proc. */
export function readPeerTable(): PeerTable {
  const texts = TABLES.map((table) => {
    try {
      return readFileSync(table, 'utf8');
    } catch {
      return ''; // No Linux, or no /proc, or no IPv6: nobody is told from it then.
    }
  });
  return new PeerTable(texts.join('\n'));
}

/** The uids of peers, beside everything else: who asks while the table is read shares the next. */
export class PeerUids {
  #reading: Promise<unknown> = Promise.resolve();
  #next: Promise<PeerTable> | null = null;

  /** Null: cannot be told, or the client is not of this machine. */
  async of(ends: SocketEnds): Promise<number | null> {
    this.#next ??= this.#reading.then(() => {
      this.#next = null;
      const reading = readTables();
      this.#reading = reading;
      return reading;
    });
    return (await this.#next).uidOf(ends);
  }
}

async function readTables(): Promise<PeerTable> {
  // As above: what is not there tells of nobody.
  const texts = TABLES.map((table) => readFile(table, 'utf8').catch(() => ''));
  return new PeerTable((await Promise.all(texts)).join('\n'));
}

/** Whether connections from this address come from this machine itself. */
export function isOwnAddress(address: string): boolean {
  const plain = plainAddress(address);
  if (/^127\./.test(plain) || plain === '::1') return true;
  return Object.values(ownInterfaces()).some((all) => all?.some((one) => one.address === plain));
}

/** An end as both tables write it: words of 32 bits as they lie in memory, then the port. */
function formatEnds(address = '', port = 0): readonly string[] {
  const plain = plainAddress(address);
  const end = `:${hex(port, 4)}`;
  if (isIPv6(plain)) return [`${memoryWordsOf(bytesOfIPv6(plain))}${end}`];
  const word = memoryWordsOf(plain.split('.').map(Number));
  const mapped = `${'0'.repeat(16)}${memoryWordsOf([0, 0, 0xff, 0xff])}${word}`;
  return [word, mapped].map((text) => `${text}${end}`);
}

function bytesOfIPv6(address: string): number[] {
  return groupsOf(address).flatMap((group) => {
    const word = Number.parseInt(group, 16);
    return [word >> 8, word & 0xff];
  });
}

/** Each four bytes as the number that they are in memory. */
function memoryWordsOf(bytes: readonly number[]): string {
  const words: string[] = [];
  for (let at = 0; at < bytes.length; at += 4) {
    const four = bytes.slice(at, at + 4).map((byte) => hex(byte, 2));
    words.push((endianness() === 'LE' ? four.reverse() : four).join(''));
  }
  return words.join('');
}

function hex(number: number, digits: number): string {
  return number.toString(16).toUpperCase().padStart(digits, '0');
}
