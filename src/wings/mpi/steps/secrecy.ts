// How two processes of one task know each other: TLS with a key that only the task's nodes have
// (RFC 4279), another one for each epoch and node. Where the server listens follows from the key
// too, so that nobody has to be asked.

import { createHmac } from 'node:crypto';
import type { SecureContextOptions } from 'node:tls';
import type { Allocation } from './allocation.ts';

/** Below the range from which Linux takes ports for outgoing connections. */
const PORT_FIRST = 15_000;
const PORT_COUNT = 17_000;
/** The server takes the first of them that is free. */
const PORTS_PER_NODE = 8;

/** Key exchange with forward secrecy. The suites of TLS 1.3 need a session ticket for the same. */
export const TLS_OPTIONS = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const satisfies SecureContextOptions;

/** What the client says to name the key; not secret. */
export function identityOf({ epochId }: Allocation, node: string): string {
  return `${epochId}@${node}`;
}

/** The key between the task's processes and the server on this node. */
export function keyOf(allocation: Allocation, node: string): Buffer {
  return digest(allocation, `key ${identityOf(allocation, node)}`);
}

/** Where the server on this node may be, in the order in which it tries them. */
export function portsOf(allocation: Allocation, node: string): number[] {
  const bytes = digest(allocation, `ports ${identityOf(allocation, node)}`);
  const ports = Array.from(
    { length: PORTS_PER_NODE },
    (_, at) => PORT_FIRST + (bytes.readUInt32BE(at * 4) % PORT_COUNT),
  );
  return [...new Set(ports)];
}

function digest({ key }: Allocation, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
