// The Dialer port: a WebSocket to the head, over its unix socket or over TLS with a pinned
// certificate. The secret is only sent once the certificate is the right one.

import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import WebSocket, { type RawData } from 'ws';
import { believed } from '../base/believed.ts';
import { formatDuration } from '../base/duration.ts';
import { type Dialer, gatherWrites, type Session } from '../ports/net.ts';
import { type HeadPlace, openStream } from './head-stream.ts';

/** Advice for a node that was removed on the head, or joined again elsewhere. */
const UNKNOWN =
  ': unknown secret; a node that was removed comes back by `weft join --again`, or `weft up`';

/** Where a head is, and what is asked of it. */
interface DialTarget {
  readonly head: HeadPlace;
  readonly path: string;
  readonly authorization: string;
  /** Largest message taken. */
  readonly messageBytesMax: number;
  /** For each step of a dial. Default: 10 s. */
  readonly timeoutMs?: number;
}

export interface HeadAddress extends Omit<DialTarget, 'path' | 'authorization'> {
  readonly name: string;
  readonly secret: string;
  /** Called when the connection has ended. */
  readonly onLost?: () => void;
}

/** An open WebSocket, and the stream below it. */
interface OpenSocket {
  readonly socket: WebSocket;
  readonly stream: Duplex;
}

const DIAL_TIMEOUT_MS = 10_000;
/** What a head that does not read may leave here; logs wait for acknowledgements long before. */
const BUFFERED_BYTES_MAX = 64 * 1_048_576;
const AGENT_PATH = '/v1/agent';

/** Dials once per call; the caller decides when to try again. */
export function headDialer(address: HeadAddress): Dialer {
  return { dial: () => dial(address) };
}

async function dial({ name, secret, onLost, ...address }: HeadAddress): Promise<Session> {
  const authorization = `Node ${name}:${secret}`;
  const { socket, stream } = await dialSocket({ ...address, path: AGENT_PATH, authorization });
  if (onLost !== undefined) socket.on('close', onLost);
  return sessionOf(socket, stream);
}

/** Rejects with words when the head cannot be reached, or does not let us in. */
async function dialSocket(door: DialTarget): Promise<OpenSocket> {
  const { authorization, messageBytesMax, timeoutMs = DIAL_TIMEOUT_MS } = door;
  const { host, stream } = await openStream(door.head, timeoutMs);
  // ws would start TLS itself for wss; this stream already has it.
  const socket = new WebSocket(`ws://${host}${door.path}`, {
    // Declared for a socket; any stream does.
    createConnection: () => believed<Socket>(stream),
    headers: { authorization },
    maxPayload: messageBytesMax,
    perMessageDeflate: false,
  });
  return new Promise((resolve, reject) => {
    // Its own time-out (`handshakeTimeout`) has no effect on a stream that it is given.
    const timer = setTimeout(() => {
      stream.destroy(new Error(`no answer from the head within ${formatDuration(timeoutMs)}`));
    }, timeoutMs);
    stream.once('close', () => clearTimeout(timer));
    socket.once('open', () => {
      clearTimeout(timer);
      resolve({ socket, stream });
    });
    socket.once('error', (error) => reject(error));
    socket.once('unexpected-response', (_request, response) => {
      const status = response.statusCode ?? 0;
      reject(new Error(`the head answered ${status}${status === 401 ? UNKNOWN : ''}`));
      stream.destroy();
    });
  });
}

function sessionOf(socket: WebSocket, stream: Duplex): Session {
  let why = 'the head closed the connection';
  const gather = gatherWrites(stream, setImmediate);
  socket.on('error', (error) => {
    why = error.message;
  });
  return {
    peer: '',
    send: (message) => {
      if (socket.readyState !== WebSocket.OPEN) return;
      gather();
      socket.send(message);
      if (socket.bufferedAmount <= BUFFERED_BYTES_MAX) return;
      why = 'the head does not read what this node sends';
      socket.terminate();
    },
    onMessage: (handler) => void socket.on('message', (data) => handler(bytesOf(data))),
    onClose: (handler) => {
      socket.on('close', (code, reason) =>
        handler(reason.length > 0 ? `${reason}` : `${why} (${code})`),
      );
    },
    close: (reason) => socket.close(1000, reason.slice(0, 120)),
  };
}

/** A message as bytes. */
function bytesOf(data: RawData): Uint8Array {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  return Array.isArray(data) ? Buffer.concat(data) : data;
}
