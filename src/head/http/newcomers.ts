// Connections that have proven nobody yet: bounded by address and in all, so that a stranger who
// holds connections open cannot use up the head's file descriptors.

import type { Socket } from 'node:net';
import {
  LOCAL_NEWCOMERS_MAX,
  NEWCOMERS_MAX,
  NEWCOMERS_PER_ADDRESS_MAX,
} from '../../core/model/limits.ts';

/**
 * Time for a handshake and a header over a slow line, or for a login when a thousand come at once.
 * Younger ones are not ended for others.
 */
const GRACE_MS = 2000;
/** Groups of an IPv6 address: what one customer of a provider gets. */
const IPV6_GROUPS = 4;

interface Newcomer {
  readonly socket: Socket;
  readonly address: string;
  readonly since: number;
}

export interface Bounds {
  readonly perAddress: number;
  /** Over the network. */
  readonly total: number;
  /** Through the unix socket, all of which count as one address. */
  readonly local: number;
}

const BOUNDS: Bounds = {
  perAddress: NEWCOMERS_PER_ADDRESS_MAX,
  total: NEWCOMERS_MAX,
  local: LOCAL_NEWCOMERS_MAX,
};

const LOCAL = 'unix socket';

export class Newcomers {
  readonly #bounds: Bounds;
  readonly #now: () => number;
  /** Oldest first. A TLS socket is another object than the connection below it: both have the key. */
  readonly #all = new Map<unknown, Newcomer>();
  readonly #remote = new Map<unknown, Newcomer>();
  readonly #byAddress = new Map<string, Map<unknown, Newcomer>>();

  /** `now`: a clock that never jumps. */
  constructor(now: () => number, bounds: Bounds = BOUNDS) {
    this.#now = now;
    this.#bounds = bounds;
  }

  /** Counts a new connection: ends the one that has been silent for longest, or this one. */
  add(socket: Socket, local: boolean): void {
    const address = local ? LOCAL : networkOf(socket.remoteAddress ?? '');
    const newcomer = { socket, address, since: this.#now() };
    const same = this.#byAddress.get(address) ?? new Map<unknown, Newcomer>();
    const { perAddress, total, local: localMax } = this.#bounds;
    const hasRoom = local
      ? this.#makeRoom(same, localMax)
      : this.#makeRoom(same, perAddress) && this.#makeRoom(this.#remote, total);
    if (!hasRoom) {
      socket.destroy();
      return;
    }
    const key = keyOf(socket);
    this.#all.set(key, newcomer);
    if (!local) this.#remote.set(key, newcomer);
    this.#byAddress.set(address, same.set(key, newcomer));
    socket.once('close', () => this.#forget(key));
  }

  /** Its requests are in somebody's name from now on. */
  proven(socket: Socket): void {
    this.#forget(keyOf(socket));
  }

  #makeRoom(among: ReadonlyMap<unknown, Newcomer>, max: number): boolean {
    if (among.size < max) return true;
    const [oldest] = among;
    if (oldest === undefined) return false;
    const [key, { socket, since }] = oldest;
    if (this.#now() - since < GRACE_MS) return false;
    this.#forget(key);
    socket.destroy();
    return true;
  }

  #forget(key: unknown): void {
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

/** The address; of IPv6 the network, as one machine has billions of addresses in it. */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const [before = '', after] = address.split('::');
  const groups = before === '' ? [] : before.split(':');
  if (after !== undefined) {
    const rest = after === '' ? [] : after.split(':');
    while (groups.length + rest.length < 8) groups.push('0');
    groups.push(...rest);
  }
  return `${groups.slice(0, IPV6_GROUPS).join(':')}::/64`;
}
