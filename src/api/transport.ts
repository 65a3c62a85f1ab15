// HTTP to one head over a kept-alive connection: its unix socket, or TLS with a pinned certificate.
// Knows nothing of routes.

import type * as Http from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { fingerprintError, unreachableError } from './api-error.ts';

// Not imported: an import reads every name the module has, and one of them loads a WebSocket
// client, which takes longer than all the rest of a command.
const { Agent: HttpAgent, request: plainRequest } = process.getBuiltinModule('node:http');

/** Where a head is. A URL without `fingerprint` is checked against the system's authorities. */
export type Address =
  | { readonly socketPath: string }
  | { readonly url: string; readonly fingerprint?: string | undefined };

export interface RawRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Transport {
  /** For messages. */
  readonly address: string;
  /** True on the unix socket, where a user can prove who it is by owning a directory. */
  readonly local: boolean;
  /** Resolves with the head of the answer; its body is the caller's to read. */
  send(request: RawRequest): Promise<IncomingMessage>;
  close(): void;
}

export function createTransport(address: Address): Transport {
  return 'socketPath' in address ? overSocket(address.socketPath) : overUrl(address);
}

function overSocket(socketPath: string): Transport {
  const agent = new HttpAgent({ keepAlive: true });
  return {
    address: socketPath,
    local: true,
    send: (request) =>
      exchange(plainRequest, { agent, socketPath, host: 'localhost' }, request, socketPath),
    close: () => agent.destroy(),
  };
}

function overUrl(address: { url: string; fingerprint?: string | undefined }): Transport {
  const url = new URL(address.url);
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  const base = { host: url.hostname.replace(/^\[|\]$/g, ''), port };
  if (url.protocol === 'http:') return overTcp(base, url.host);
  let parts: SecureParts | undefined;
  return {
    address: url.host,
    local: false,
    send(request) {
      parts ??= secureParts(address.fingerprint, url.host);
      return exchange(parts.request, { ...base, agent: parts.agent }, request, url.host);
    },
    close: () => parts?.agent.destroy(),
  };
}

function overTcp(base: { host: string; port: number }, name: string): Transport {
  const agent = new HttpAgent({ keepAlive: true });
  return {
    address: name,
    local: false,
    send: (request) => exchange(plainRequest, { ...base, agent }, request, name),
    close: () => agent.destroy(),
  };
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
    const length = body === undefined ? undefined : `${Buffer.byteLength(body)}`;
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
    outgoing.end(body);
  });
}
