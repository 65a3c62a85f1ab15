// HTTP to one head over a kept-alive connection: its unix socket, or TLS with a pinned certificate.
// Knows nothing of routes.

import type * as Http from 'node:http';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Readable } from 'node:stream';
import { fingerprintError, unreachableError } from './api-error.ts';
import { formatSocket, type Held, holdFile, identityAt } from './socket-door.ts';

// Not imported: an import reads every name the module has, and one of them loads a WebSocket
// client, which takes longer than all the rest of a command.
const { Agent: HttpAgent, request: plainRequest } = process.getBuiltinModule('node:http');

/** Where a head is. A URL without `fingerprint` is checked against the system's authorities. */
export type Address =
  | { readonly socketPath: string }
  | { readonly url: string; readonly fingerprint?: string | undefined };

/** Bytes that are sent as they are read. */
export interface ByteBody {
  readonly length: number;
  /** From the first byte; called again when the request has to be sent again. */
  open(): Readable;
}

export interface RawRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | ByteBody | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Transport {
  /** For messages. */
  readonly address: string;
  /** True on the unix socket, where a user can prove who it is by owning a directory. */
  readonly local: boolean;
  /** Throws ApiError when there is no socket. */
  door(): Door;
  close(): void;
}

/** One peer: what is sent here never reaches another that took its place meanwhile. */
export interface Door {
  readonly address: string;
  /** Null over the network, where the certificate says who the peer is. */
  readonly socket: Held['identity'] | null;
  /** Resolves with the head of the answer; its body is the caller's to read. */
  send(request: RawRequest): Promise<IncomingMessage>;
}

export function createTransport(address: Address): Transport {
  return 'socketPath' in address ? overSocket(address.socketPath) : overUrl(address);
}

function overSocket(socketPath: string): Transport {
  const opened: { readonly name: string; readonly door: Door; close(): void }[] = [];
  return {
    address: socketPath,
    local: true,
    door() {
      try {
        const last = opened.at(-1);
        if (last?.name === formatSocket(identityAt(socketPath))) return last.door;
        const next = socketDoor(socketPath);
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
function socketDoor(address: string) {
  const held = holdFile(address);
  const agent = new HttpAgent({ keepAlive: true });
  const options = { agent, socketPath: held.path, host: 'localhost' };
  const door: Door = {
    address,
    socket: held.identity,
    send: (request) => exchange(plainRequest, options, request, address),
  };
  const close = (): void => {
    agent.destroy();
    held.release();
  };
  return { name: formatSocket(held.identity), door, close };
}

function overUrl(address: { url: string; fingerprint?: string | undefined }): Transport {
  const url = new URL(address.url);
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  const base = { host: url.hostname.replace(/^\[|\]$/g, ''), port };
  if (url.protocol === 'http:') return overTcp(base, url.host);
  let parts: SecureParts | undefined;
  return remote(
    url.host,
    (request) => {
      parts ??= secureParts(address.fingerprint, url.host);
      return exchange(parts.request, { ...base, agent: parts.agent }, request, url.host);
    },
    () => parts?.agent.destroy(),
  );
}

function overTcp(base: { host: string; port: number }, name: string): Transport {
  const agent = new HttpAgent({ keepAlive: true });
  return remote(
    name,
    (request) => exchange(plainRequest, { ...base, agent }, request, name),
    () => agent.destroy(),
  );
}

function remote(address: string, send: Door['send'], close: () => void): Transport {
  const door: Door = { address, socket: null, send };
  return { address, local: false, door: () => door, close };
}

interface SecureParts {
  readonly request: typeof plainRequest;
  readonly agent: Http.Agent;
}

/** TLS is loaded when it is needed: most commands use the unix socket. */
function secureParts(fingerprint: string | undefined, name: string): SecureParts {
  const https = process.getBuiltinModule('node:https');
  if (fingerprint === undefined) {
    return { request: https.request, agent: new https.Agent({ keepAlive: true }) };
  }
  const tls = process.getBuiltinModule('node:tls');
  const { createHash } = process.getBuiltinModule('node:crypto');
  const expected = fingerprint.toLowerCase().replaceAll(':', '');
  const agent = new https.Agent({ keepAlive: true });
  // The socket is handed over only after the check: until then no header, and so no token, is sent.
  agent.createConnection = (options, done) => {
    const socket = tls.connect({ ...(options as object), rejectUnauthorized: false });
    const fail = (error: Error) => done?.(error, socket);
    socket.once('error', fail);
    socket.once('secureConnect', () => {
      socket.off('error', fail);
      const actual = createHash('sha256')
        .update(socket.getPeerX509Certificate()?.raw ?? '')
        .digest('hex');
      if (actual === expected) return done?.(null, socket);
      socket.destroy();
      return done?.(fingerprintError(name, actual, expected), socket);
    });
    return undefined;
  };
  return { request: https.request, agent };
}

function exchange(
  make: typeof plainRequest,
  options: RequestOptions,
  { method, path, headers, body, signal }: RawRequest,
  name: string,
): Promise<IncomingMessage> {
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
  return `${typeof body === 'string' ? Buffer.byteLength(body) : body.length}`;
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
