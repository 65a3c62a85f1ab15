// The handshake of a WebSocket (RFC 6455) on the head's side, for lines of calls.

import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { refuseAndClose } from '../../../kernel/head/http/last-words.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import type { Opened } from '../wire/call-stream.ts';

/** A connection that is about to become a WebSocket. */
export interface UpgradeRequest {
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** What the RFC appends to a key. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const VERSION = '13';

/**
 * The connection is a WebSocket now; null when the request was for something else, and is refused.
 */
export function takeOver({ incoming, socket, head }: UpgradeRequest): Opened | null {
  const key = incoming.headers['sec-websocket-key'] ?? '';
  const flaw = flawOf(incoming, key);
  if (flaw !== null) {
    refuseAndClose(socket, refuse('request.malformed', { what: flaw }));
    return null;
  }
  const accept = createHash('sha1').update(`${key}${GUID}`).digest('base64');
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${accept}`,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  // The server's time-outs are for requests.
  if (isSocket(socket)) socket.setTimeout(0).setNoDelay(true);
  return { stream: socket, rest: head };
}

function flawOf({ method, headers }: IncomingMessage, key: string): string | null {
  const { upgrade, 'sec-websocket-version': version } = headers;
  if (method !== 'GET') return `${method} for a WebSocket; it is GET`;
  if (upgrade?.toLowerCase() !== 'websocket')
    return `an upgrade to '${upgrade}'; it is 'websocket'`;
  if (version !== VERSION) return `WebSocket version ${version}; it is ${VERSION}`;
  if (!/^[+/0-9A-Za-z]{22}==$/.test(key)) return 'a Sec-WebSocket-Key that is none';
  return null;
}

function isSocket(socket: Duplex): socket is Socket {
  return 'setNoDelay' in socket;
}
