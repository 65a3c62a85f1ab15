// Bytes to a socket as no client of ours would send them, and what comes back.

import { type RequestOptions, request } from 'node:http';
import { connect, type NetConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';

const TRIES = 5;

/** One side of an open listener: a port or a path. */
export type Door = NetConnectOpts & { readonly secure?: boolean };

/** A listener that says nothing and stays open is closed from here after this long. */
const PATIENCE_MS = 60_000;

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

/** Posts up to `bytes` blanks; gives the answer, and how much was sent until it came. */
export async function postBytes(
  options: RequestOptions,
  bytes: number,
): Promise<{ status: number; text: string; sent: number }> {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await postOnce(options, bytes);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Writing to whoever has closed may fail before the answer that lies there is read.
      if (left === 1 || (code !== 'EPIPE' && code !== 'ECONNRESET')) throw error;
    }
  }
}

function postOnce(
  options: RequestOptions,
  bytes: number,
): Promise<{ status: number; text: string; sent: number }> {
  return new Promise((resolve, reject) => {
    let sent = 0;
    let answered = false;
    const outgoing = request({ ...options, method: 'POST' });
    outgoing.on('response', (answer) => {
      answered = true;
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      answer.on('close', () => resolve({ status: answer.statusCode ?? 0, text, sent }));
    });
    // After the answer the head closes, whatever is still on its way.
    outgoing.on('error', (error) => (answered ? undefined : reject(error)));
    const piece = Buffer.alloc(65_536, ' ');
    const pump = (): void => {
      while (sent < bytes && !answered) {
        sent += piece.length;
        if (!outgoing.write(piece)) {
          outgoing.once('drain', pump);
          return;
        }
      }
    };
    if (bytes === 0) outgoing.flushHeaders();
    else pump();
  });
}
