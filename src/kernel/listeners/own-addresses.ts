// Addresses of this machine by which others may reach a listener that is open here.

import { isIP } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';

/**
 * Addresses in a join string at most: a joining machine tries them one after the other, and a
 * machine with many bridges has many.
 */
const ADDRESSES_MAX = 8;

type Interfaces = NodeJS.Dict<readonly Pick<NetworkInterfaceInfo, 'address' | 'internal'>[]>;

/** None where the system does not tell: a unit may keep its program from asking (EAFNOSUPPORT). */
export function ownInterfaces(): Interfaces {
  try {
    return networkInterfaces();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SYSTEM_ERROR') return {};
    throw error;
  }
}

/** Addresses behind one to listen on, version 4 first; none for a listener of this machine. */
export function addressesBehind(
  listen: string,
  interfaces: Interfaces = ownInterfaces(),
): readonly string[] {
  const isEvery = listen === '0.0.0.0' || listen === '::';
  const outside = Object.values(interfaces)
    .flatMap((all = []) => all)
    .filter(({ internal, address }) => !internal && !/^(fe80:|169\.254\.)/i.test(address))
    .map(({ address }) => address)
    .filter((address) => (isEvery ? listen === '::' || isIP(address) === 4 : address === listen));
  return [...new Set(outside)].sort((a, b) => isIP(a) - isIP(b)).slice(0, ADDRESSES_MAX);
}
