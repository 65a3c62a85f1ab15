// HTTP to one head over a kept-alive connection: its unix socket, or TLS with a pinned certificate.
// Knows nothing of routes.

import type * as Http from 'node:http';
import type { ClientRequest, RequestOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { identityShown } from '../base/pinned-certificate.ts';
import { fingerprintError, unreachableError } from './api-error.ts';
import type { Answer, RawRequest } from './exchange.ts';
import { formatSocket, type Held, holdFile, identityAt } from './held-socket.ts';
import { SocketHttp } from './socket-http.ts';

/** Where a head is. A URL without `fingerprint` is checked against the system's authorities. */
export type Address =
  | { readonly socketPath: string }
  | { readonly url: string; readonly fingerprint?: string | undefined };

export interface Transport {
  /** For messages. */
  readonly address: string;
  /** True on the unix socket, where a user can prove who it is by owning a directory. */
  readonly local: boolean;
  /** Throws ApiError when there is no socket. */
  peer(): HeadPeer;
  close(): void;
}

/** How to get to a peer: its address for a WebSocket, and who makes the connection. */
export interface Way {
  /** Without a path. */
  readonly url: string;
  readonly options: { readonly createConnection: () => Socket } | { readonly agent: Http.Agent };
}

/** One peer: what is sent here never reaches another that took its place meanwhile. */
export interface HeadPeer {
  readonly address: string;
  /** Null over the network, where the certificate says who the peer is. */
  readonly socket: Held['identity'] | null;
  /** Resolves with the head of the answer; its body is the caller's to read. */
  send(request: RawRequest): Promise<Answer>;
  /** For a connection of its own to this peer, which becomes another protocol's. */
  way(): Way;
}

export function createTransport(address: Address): Transport {
  return 'socketPath' in address ? overSocket(address.socketPath) : overUrl(address);
}

function overSocket(socketPath: string): Transport {
  const opened: { readonly name: string; readonly door: HeadPeer; close(): void }[] = [];
  return {
    address: socketPath,
    local: true,
    peer() {
      try {
        const last = opened.at(-1);
        if (last?.name === formatSocket(identityAt(socketPath))) return last.door;
        const next = socketPeer(socketPath);
        opened.push(next);
        return next.door;
      } catch (error) {
        throw unreachableError(socketPath, error);
      }
    },
    // A head that was started again has another socket; answers of the one before may still come.
    close: () => {
      for (const each of opened.splice(0)) each.close();
    },
  };
}

/** Dials what is held, not what lies at the path by then. */
function socketPeer(address: string) {
  const held = holdFile(address);
  const http = new SocketHttp(held.path);
  const door: HeadPeer = {
    address,
    socket: held.identity,
    send: (request) =>
      http.send(request).catch((error) => {
        throw request.signal?.aborted ? error : unreachableError(address, error);
      }),
    way: () => {
      const { connect } = process.getBuiltinModule('node:net');
      return { url: 'ws://weft', options: { createConnection: () => connect(held.path) } };
    },
  };
  const close = (): void => {
    http.close();
    held.release();
  };
  return { name: formatSocket(held.identity), door, close };
}

function overUrl(address: { url: string; fingerprint?: string | undefined }): Transport {
  const url = new URL(address.url);
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  const base = { host: url.hostname.replace(/^\[|\]$/g, ''), port };
  let made: Parts | undefined;
  const parts = (): Parts => {
    made ??= url.protocol === 'http:' ? plainParts() : secureParts(address.fingerprint, url.host);
    return made;
  };
  const door: HeadPeer = {
    address: url.host,
    socket: null,
    send: (request) => {
      const { request: make, agent } = parts();
      return exchange(make, { ...base, agent }, request, url.host);
    },
    way: () => ({
      url: `${url.protocol === 'http:' ? 'ws' : 'wss'}://${url.host}`,
      options: { agent: parts().agent },
    }),
  };
  const close = (): void => made?.agent.destroy();
  return { address: url.host, local: false, peer: () => door, close };
}

// Both are loaded when they are needed, for most commands use the unix socket. And not imported: an
// import reads every name the module has, and one of them loads a WebSocket client.
interface Parts {
  readonly request: typeof Http.request;
  readonly agent: Http.Agent;
}

function plainParts(): Parts {
  const { Agent, request } = process.getBuiltinModule('node:http');
  return { request, agent: new Agent({ keepAlive: true }) };
}

function secureParts(fingerprint: string | undefined, name: string): Parts {
  const https = process.getBuiltinModule('node:https');
  if (fingerprint === undefined) {
    return { request: https.request, agent: new https.Agent({ keepAlive: true }) };
  }
  const tls = process.getBuiltinModule('node:tls');
  const { X509Certificate } = process.getBuiltinModule('node:crypto');
  const parse = (text: string) => new X509Certificate(Buffer.from(text, 'base64url'));
  const expected = fingerprint.toLowerCase().replaceAll(':', '');
  const agent = new https.Agent({ keepAlive: true });
  // The socket is handed over only after the check: until then no header, and so no token, is sent.
  agent.createConnection = (options, done) => {
    const socket = tls.connect({ ...(options as object), rejectUnauthorized: false });
    const fail = (error: Error) => done?.(error, socket);
    socket.once('error', fail);
    socket.once('secureConnect', () => {
      socket.off('error', fail);
      const actual = identityShown(socket.getPeerX509Certificate(), parse);
      if (actual === expected) return done?.(null, socket);
      socket.destroy();
      return done?.(fingerprintError(name, actual, expected), socket);
    });
    return undefined;
  };
  return { request: https.request, agent };
}

function exchange(
  make: Parts['request'],
  options: RequestOptions,
  { method, path, headers, body, signal }: RawRequest,
  name: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = lengthOf(body);
    const outgoing = make({
      ...options,
      method,
      path,
      headers: length === undefined ? headers : { ...headers, 'content-length': length },
      ...(signal === undefined ? {} : { signal }),
    });
    outgoing.once('response', resolve);
    outgoing.on('error', (error) => {
      if (signal?.aborted || error.name === 'ApiError') return reject(error);
      return reject(unreachableError(name, error));
    });
    if (typeof body === 'object') sendBytes(body.open(), outgoing, reject);
    else outgoing.end(body);
  });
}

function lengthOf(body: RawRequest['body']): string | undefined {
  if (body === undefined) return undefined;
  if (typeof body === 'string') return `${Buffer.byteLength(body)}`;
  return body.length === null ? undefined : `${body.length}`;
}

/** An answer that comes before the end says that the rest is not wanted. */
function sendBytes(bytes: Readable, outgoing: ClientRequest, failed: (error: Error) => void): void {
  bytes.once('error', (error) => {
    failed(error);
    outgoing.destroy();
  });
  outgoing.once('response', () => bytes.unpipe(outgoing).destroy());
  outgoing.once('close', () => bytes.destroy());
  bytes.pipe(outgoing);
}
