// A WebSocket from a program to its head, as the calls of pools use it: binary messages, and a bound
// on what waits to be sent.

import type { IncomingMessage } from 'node:http';
import type WebSocket from 'ws';
import { errorFromAnswer, unreachableError } from '../api/api-error.ts';
import type { Client } from '../api/client.ts';
import { readText } from '../api/read-text.ts';

export interface CallsSocket {
  send(bytes: Uint8Array): void;
  /** Bytes that wait here. */
  readonly bufferedBytes: number;
  /** Sends what waits, then cuts; cuts anyway when that takes long. */
  close(): void;
}

export interface CallsSocketEvents {
  frame(bytes: Uint8Array): void;
  /** Once; nothing comes after it. */
  gone(why: string): void;
}

export interface SocketWish {
  /** With its query. */
  readonly path: string;
  readonly frameBytesMax: number;
  /** For the handshake. */
  readonly timeoutMs: number;
}

/** Text messages are none of ours. */
const CLOSE_UNSUPPORTED = 1003;

/** Throws ApiError: nobody answers, or the head refuses. */
export async function dialCalls(
  client: Client,
  wish: SocketWish,
  events: CallsSocketEvents,
): Promise<CallsSocket> {
  const first = await attempt(client, wish, { events, isAgain: false });
  if (first !== 'renew') return first;
  const second = await attempt(client, wish, { events, isAgain: true });
  if (second !== 'renew') return second;
  throw errorFromAnswer(401, '');
}

interface Attempt {
  readonly events: CallsSocketEvents;
  readonly isAgain: boolean;
}

/** `renew`: a restarted head knows no sessions, and this client can prove who it is once more. */
async function attempt(
  client: Client,
  { path, frameBytesMax, timeoutMs }: SocketWish,
  { events, isAgain }: Attempt,
): Promise<CallsSocket | 'renew'> {
  const [{ WebSocket }, opening] = await Promise.all([
    import('ws'),
    client.opening(path, { isAgain }),
  ]);
  const socket = new WebSocket(opening.url, {
    ...opening.options,
    headers: opening.headers,
    handshakeTimeout: timeoutMs,
    maxPayload: frameBytesMax,
    perMessageDeflate: false,
    skipUTF8Validation: true,
  });
  return new Promise((resolve, reject) => {
    const failed = (error: unknown): void => reject(unreachableError(client.address, error));
    socket.once('error', failed);
    socket.once('unexpected-response', (_request, answer) => {
      // Cutting it is an error to it; what counts is what the head said.
      socket.off('error', failed).on('error', () => undefined);
      const isUnknown = answer.statusCode === 401 && opening.isRenewable && !isAgain;
      const heard = isUnknown ? 'renew' : refusal(answer, client.address);
      if (heard === 'renew') answer.resume();
      void Promise.resolve(heard)
        .then((what) => (what === 'renew' ? resolve(what) : reject(what)), failed)
        .finally(() => socket.terminate());
    });
    socket.once('open', () => {
      socket.off('error', failed);
      resolve(opened(socket, events));
    });
  });
}

async function refusal(answer: IncomingMessage, address: string): Promise<Error> {
  return errorFromAnswer(answer.statusCode ?? 0, await readText(answer, address));
}

/** How long a goodbye may take. */
const CLOSING_MS = 2000;

function opened(socket: WebSocket, events: CallsSocketEvents): CallsSocket {
  let why = 'the connection was cut';
  socket.on('error', (error) => {
    why = error.message;
  });
  socket.on('message', (data, isBinary) => {
    if (isBinary) events.frame(data as Buffer);
    else socket.close(CLOSE_UNSUPPORTED);
  });
  socket.once('close', () => events.gone(why));
  return {
    send: (bytes) => {
      if (socket.readyState === socket.OPEN) socket.send(bytes);
    },
    get bufferedBytes() {
      return socket.bufferedAmount;
    },
    close: () => {
      if (socket.readyState === socket.CLOSED) return;
      socket.close();
      const timer = setTimeout(() => socket.terminate(), CLOSING_MS).unref();
      socket.once('close', () => clearTimeout(timer));
    },
  };
}
