// Requests to the head over a unix socket or TLS, with connections kept alive. Knows no routes.

import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import { request as httpRequest, Agent as HttpAgent } from 'node:http';
import type { Duplex } from 'node:stream';
import { refuse } from '../../core/model/errors.ts';
import { failure } from '../failure.ts';
import type { Location } from './locate.ts';

export interface Request {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** From the last byte to the next; 0 = none. Longer for long polls. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly stream: IncomingMessage;
}

export interface Transport {
  /** For messages: `/run/weft/weft.sock` or `https://host:5001`. */
  readonly address: string;
  send(request: Request): Promise<Answer>;
  close(): void;
}

/** Opens nothing yet: the first request does. */
export async function createTransport(location: Location): Promise<Transport> {
  if (location.kind === 'socket') {
    const { path } = location;
    const agent = new HttpAgent({ keepAlive: true });
    return transport(path, agent, { agent, socketPath: path, host: 'localhost' });
  }
  const { url, fingerprint } = location;
  const { createPinnedAgent } = await import('./pinned-agent.ts');
  const agent = createPinnedAgent({ address: url.host, fingerprint });
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return transport(url.origin, agent, { agent, host, port: Number(url.port) || 443 });
}

interface Target {
  readonly agent: Agent;
  readonly host: string;
  readonly port?: number;
  readonly socketPath?: string;
}

function transport(address: string, agent: Agent, target: Target): Transport {
  return {
    address,
    send: (request) => send(address, target, request),
    close: () => agent.destroy(),
  };
}

function send(address: string, target: Target, request: Request): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method, path, headers = {}, body } = request;
    const all: Record<string, string | number> = { ...headers };
    if (body !== undefined) {
      all['content-type'] ??= 'application/json';
      all['content-length'] = Buffer.byteLength(body);
    }
    const options = { ...target, method, path, headers: all };
    const outgoing: ClientRequest = httpRequest(
      request.signal ? { ...options, signal: request.signal } : options,
    );
    outgoing.on('response', (stream) =>
      resolve({ status: stream.statusCode ?? 0, headers: stream.headers, stream }),
    );
    outgoing.on('error', (cause) => reject(asFailure(cause, address)));
    if (request.timeoutMs > 0) {
      outgoing.setTimeout(request.timeoutMs, () => {
        const seconds = request.timeoutMs / 1000;
        outgoing.destroy(new Error(`no answer within ${seconds} s`));
      });
    }
    outgoing.end(body);
  });
}

function asFailure(cause: Error & { code?: string }, address: string): Error {
  if (cause.name === 'Failure' || cause.name === 'AbortError') return cause;
  return failure(
    refuse('head.unreachable', { address, cause: causeWords(cause) }, hintFor(cause, address)),
  );
}

function causeWords(cause: Error & { code?: string }): string {
  if (cause.code === 'ENOENT') return 'there is no such socket';
  if (cause.code === 'ECONNREFUSED') return 'nothing listens there';
  if (cause.code === 'EACCES') return 'permission denied';
  if (cause.code === 'ECONNRESET') return 'the connection was cut';
  return cause.message || cause.code || 'unknown';
}

function hintFor(cause: { code?: string }, address: string): string {
  if (cause.code === 'EACCES') return 'Ask its owner for a token, or name another cluster with --dir.';
  if (!address.startsWith('/')) return 'Is the address right and the head running? `weft doctor` looks.';
  return 'Start a cluster here with `weft up`, or name one with --dir or --head.';
}

/** The whole body as text. */
export async function readText(stream: AsyncIterable<Buffer> | Duplex): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
