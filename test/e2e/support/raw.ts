// Bytes to a socket as no client of ours would send them, and what comes back.

import { connect, type NetConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** One side of an open door: a port or a path. */
export type Door = NetConnectOpts & { readonly secure?: boolean };

/** A door that says nothing and stays open is closed from here after this long. */
const PATIENCE_MS = 10_000;

/**
 * Sends bytes and reads until the other side ends the connection. Resolves with the answer; null
 * when the other side kept the connection open.
 */
export function sendRaw(door: Door, bytes: Uint8Array | string): Promise<string | null> {
  return new Promise((resolve) => {
    const { secure = false, ...where } = door;
    const socket = secure
      ? connectTls({ ...where, rejectUnauthorized: false } as object)
      : connect(where as NetConnectOpts);
    let answer = '';
    const timer = setTimeout(() => {
      resolve(null);
      socket.destroy();
    }, PATIENCE_MS);
    socket.on('data', (data: Buffer) => {
      answer += data.toString('latin1');
    });
    // Being cut off while sending is one of the answers to garbage.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(answer);
    });
    socket.once(secure ? 'secureConnect' : 'connect', () => socket.write(bytes));
  });
}
