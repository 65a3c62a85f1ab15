// Connections that have proven nobody yet: bounded by address and in all, so that a stranger who
// holds connections open cannot use up the head's file descriptors.

import type { Socket } from 'node:net';
import { NEWCOMERS_MAX, NEWCOMERS_PER_ADDRESS_MAX } from '../../core/model/limits.ts';

/** Time for a handshake and a header over a slow line. Younger ones are not ended for others. */
const REMOTE_GRACE_MS = 2000;
/** On the same machine it takes a moment only. */
const LOCAL_GRACE_MS = 100;
/** Groups of an IPv6 address: what one customer of a provider gets. */
const IPV6_GROUPS = 4;

interface Newcomer {
  readonly socket: Socket;
  readonly address: string;
  readonly since: number;
  readonly graceMs: number;
}

export interface Bounds {
  readonly perAddress: number;
  readonly total: number;
}

const BOUNDS: Bounds = { perAddress: NEWCOMERS_PER_ADDRESS_MAX, total: NEWCOMERS_MAX };

export class Newcomers {
  readonly #bounds: Bounds;
  readonly #now: () => number;
  /** Oldest first. A TLS socket is another object than the connection below it: both have the key. */
  readonly #all = new Map<unknown, Newcomer>();
  readonly #byAddress = new Map<string, Map<unknown, Newcomer>>();

  /** `now`: a clock that never jumps. */
  constructor(now: () => number, bounds: Bounds = BOUNDS) {
    this.#now = now;
    this.#bounds = bounds;
  }

  /** Counts a new connection: ends the one that has been silent for longest, or this one. */
  add(socket: Socket, local: boolean): void {
    const address = local ? 'unix socket' : networkOf(socket.remoteAddress ?? '');
    const graceMs = local ? LOCAL_GRACE_MS : REMOTE_GRACE_MS;
    const newcomer = { socket, address, since: this.#now(), graceMs };
    const same = this.#byAddress.get(address) ?? new Map<unknown, Newcomer>();
    const hasRoom =
      this.#makeRoom(same, this.#bounds.perAddress) &&
      this.#makeRoom(this.#all, this.#bounds.total);
    if (!hasRoom) {
      socket.destroy();
      return;
    }
    const key = keyOf(socket);
    this.#all.set(key, newcomer);
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
    const [key, { socket, since, graceMs }] = oldest;
    if (this.#now() - since < graceMs) return false;
    this.#forget(key);
    socket.destroy();
    return true;
  }

  #forget(key: unknown): void {
    const newcomer = this.#all.get(key);
    if (newcomer === undefined) return;
    this.#all.delete(key);
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
