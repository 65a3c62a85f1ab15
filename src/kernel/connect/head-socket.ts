// A WebSocket from a program to its head: the handshake, after which whoever asked for it has the
// connection.

import { randomBytes } from 'node:crypto';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorFromAnswer, unreachableError } from '../api/api-error.ts';
import type { Client, Opening } from '../api/client.ts';
import { readText } from '../api/read-text.ts';
import { INSIDE_HEADER, readInside } from '../model/inside.ts';

export interface HeadSocket {
  readonly stream: Duplex;
  /** What came behind the handshake. */
  readonly rest: Uint8Array;
}

export interface SocketRequest {
  /** With its query. */
  readonly path: string;
  /** For the handshake. */
  readonly timeoutMs: number;
  /** What the connection becomes; absent: a WebSocket. */
  readonly protocol?: string | undefined;
  /** Beside those that say who asks. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Throws ApiError: nobody answers, or the head refuses. */
export async function dialHead(client: Client, wish: SocketRequest): Promise<HeadSocket> {
  const first = await attempt(client, wish, 'first');
  if (first !== 'renew') return first;
  const second = await attempt(client, wish, 'again');
  if (second !== 'renew') return second;
  throw errorFromAnswer(401, '');
}

/** `renew`: a restarted head knows no sessions, and this client can prove who it is once more. */
async function attempt(
  client: Client,
  { path, timeoutMs, protocol = 'websocket', headers = {} }: SocketRequest,
  which: 'first' | 'again',
): Promise<HeadSocket | 'renew'> {
  const isAgain = which === 'again';
  const opening = await client.opening(path, { isAgain });
  const request = ask({ ...opening, headers: { ...headers, ...opening.headers } }, protocol);
  const timer = setTimeout(() => {
    request.destroy(new Error(`no answer within ${timeoutMs / 1000} s`));
  }, timeoutMs);
  try {
    const answer = await answerTo(request);
    if ('stream' in answer) return answer;
    const isUnknown = answer.statusCode === 401 && opening.isRenewable && !isAgain;
    if (!isUnknown) {
      throw errorFromAnswer(answer.statusCode ?? 0, await readText(answer, client.address));
    }
    answer.destroy();
    return 'renew';
  } catch (error) {
    const isTold = error instanceof Error && error.name === 'ApiError';
    throw isTold ? error : unreachableError(client.address, error);
  } finally {
    clearTimeout(timer);
  }
}

function ask({ url, options, headers }: Opening, protocol: string): ClientRequest {
  const { protocol: scheme, hostname, port, pathname, search } = new URL(url);
  const isSecure = scheme === 'wss:';
  // Not imported: an import reads every name that a module has.
  const { request } = process.getBuiltinModule(isSecure ? 'node:https' : 'node:http');
  const { WEFT_WORKER: inside } = process.env;
  const asked = request({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port || (isSecure ? 443 : 80),
    path: `${pathname}${search}`,
    ...options,
    headers: {
      ...headers,
      ...(inside !== undefined && readInside(inside) !== null && { [INSIDE_HEADER]: inside }),
      connection: 'Upgrade',
      upgrade: protocol,
      'sec-websocket-version': '13',
      'sec-websocket-key': randomBytes(16).toString('base64'),
    },
  });
  asked.end();
  return asked;
}

function answerTo(request: ClientRequest): Promise<HeadSocket | IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('error', reject);
    request.once('response', resolve);
    request.once('upgrade', (_answer, stream, rest) => {
      (stream as Socket).setTimeout(0).setNoDelay(true);
      resolve({ stream, rest });
    });
  });
}
