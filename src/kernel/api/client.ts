// The typed client of the API: one call per route, errors as ApiError. Loads no schema library, so
// that a command starts quickly; what it sends is checked by the head.

import { errorFromAnswer } from './api-error.ts';
import type { Answer, ByteBody } from './exchange.ts';
import { noteHeadDate } from './head-time.ts';
import { formatSocket } from './held-socket.ts';
import { loginLocally } from './local-login.ts';
import { fillPath, methodAndPath, type RouteName } from './paths.ts';
import { readText } from './read-text.ts';
import type { Body, ReplyOf } from './routes.ts';
import {
  type Address,
  createTransport,
  type HeadPeer,
  type Transport,
  type Way,
} from './transport.ts';
import type { FinishLoginReply } from './users.ts';

export interface ClientOptions {
  readonly address: Address;
  /** A bearer token; absent on the unix socket, with its login. Null: callers say who they are. */
  readonly token?: string | null | undefined;
  /** Where a session token lives between two commands; absent: only in this client. */
  readonly sessions?: SessionKeeper | undefined;
}

/** `socket`: the one that the session was got through; it must be sent through no other. */
export interface SessionKeeper {
  load(socket: string): Promise<string | null>;
  save(session: FinishLoginReply, socket: string): Promise<void>;
}

export interface CallOptions<N extends RouteName> {
  readonly params?: Readonly<Record<string, string>>;
  /** Undefined values are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: Body<N>;
  /** Instead of JSON, for routes that take bytes. */
  readonly bytes?: ByteBody;
  /** `Idempotency-Key`. */
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

export interface Client {
  /** For messages: the socket's path, or host and port. */
  readonly address: string;
  /** Throws ApiError. */
  call<N extends RouteName>(route: N, options?: CallOptions<N>): Promise<ReplyOf<N>>;
  /** For routes that answer with bytes: logs, events, files. Throws ApiError unless 200 or 206. */
  stream<N extends RouteName>(route: N, options?: CallOptions<N>): Promise<Answer>;
  /** What a WebSocket to a path is opened with. `isAgain`: the head did not know the token. */
  opening(path: string, of: { readonly isAgain: boolean }): Promise<Opening>;
  close(): void;
}

export interface Opening extends Way {
  /** With its path. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether another token can be had when the head does not know this one. */
  readonly isRenewable: boolean;
}

export function createClient(options: ClientOptions): Client {
  const transport = createTransport(options.address);
  const credentials = new Credentials(transport, options);
  async function stream<N extends RouteName>(route: N, call: CallOptions<N> = {}) {
    const peer = transport.peer();
    const answer = await attempt(peer, route, call, await credentials.current(peer));
    if (isGood(answer)) return answer;
    const text = await readText(answer, transport.address);
    if (answer.statusCode !== 401 || !credentials.renewable) {
      throw errorFromAnswer(answer.statusCode ?? 0, text);
    }
    // A restarted head knows no sessions: prove it again, once.
    const again = await attempt(peer, route, call, await credentials.renew(peer));
    if (isGood(again)) return again;
    throw errorFromAnswer(again.statusCode ?? 0, await readText(again, transport.address));
  }
  return {
    address: transport.address,
    stream,
    async call(route, call) {
      const text = await readText(await stream(route, call), transport.address);
      return JSON.parse(text);
    },
    async opening(path, { isAgain }) {
      const peer = transport.peer();
      const token = await (isAgain ? credentials.renew(peer) : credentials.current(peer));
      const headers: Record<string, string> = {};
      if (token !== null) headers['authorization'] = `Bearer ${token}`;
      const { url, options: way } = peer.way();
      return { url: `${url}${path}`, options: way, headers, isRenewable: credentials.renewable };
    },
    close: () => transport.close(),
  };
}

function isGood({ statusCode }: Answer): boolean {
  return statusCode === 200 || statusCode === 206;
}

async function attempt<N extends RouteName>(
  peer: HeadPeer,
  route: N,
  call: CallOptions<N>,
  token: string | null,
): Promise<Answer> {
  const { method, path } = methodAndPath(route);
  const headers: Record<string, string> = { ...call.headers };
  if (token !== null) headers['authorization'] = `Bearer ${token}`;
  if (call.body !== undefined) headers['content-type'] = 'application/json';
  if (call.bytes !== undefined) headers['content-type'] = 'application/octet-stream';
  if (call.key !== undefined) headers['idempotency-key'] = call.key;
  const answer = await peer.send({
    method,
    path: fillPath(path, call.params ?? {}) + formatQuery(call.query ?? {}),
    headers,
    body: call.body === undefined ? call.bytes : JSON.stringify(call.body),
    signal: call.signal,
  });
  const { date } = answer.headers;
  noteHeadDate(typeof date === 'string' ? date : null, Date.now());
  return answer;
}

function formatQuery(query: Readonly<Record<string, string | number | boolean | undefined>>) {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) pairs.set(name, String(value));
  }
  return pairs.size === 0 ? '' : `?${pairs}`;
}

/** The token to send: given, kept from an earlier command, or got by the local login. */
class Credentials {
  readonly renewable: boolean;
  readonly #given: Promise<string | null> | undefined;
  readonly #sessions: SessionKeeper | undefined;
  /** Sessions by the peer that gave them: no other peer ever sees one. */
  readonly #tokens = new WeakMap<HeadPeer, Promise<string | null>>();

  constructor(transport: Transport, { token, sessions }: ClientOptions) {
    this.#sessions = sessions;
    this.renewable = token === undefined && transport.local;
    if (!this.renewable) this.#given = Promise.resolve(token ?? null);
  }

  current(peer: HeadPeer): Promise<string | null> {
    return this.#given ?? this.#tokens.get(peer) ?? this.#kept(peer, this.#load(peer));
  }

  renew(peer: HeadPeer): Promise<string | null> {
    return this.#kept(peer, this.#login(peer));
  }

  /** A login that failed is not remembered: the head may be there the next time. */
  #kept(peer: HeadPeer, login: Promise<string | null>): Promise<string | null> {
    this.#tokens.set(peer, login);
    login.catch(() => this.#tokens.delete(peer));
    return login;
  }

  async #load(peer: HeadPeer): Promise<string | null> {
    const kept = peer.socket && (await this.#sessions?.load(formatSocket(peer.socket)));
    return kept ?? this.#login(peer);
  }

  async #login(peer: HeadPeer): Promise<string | null> {
    if (peer.socket === null) return null;
    const session = await loginLocally(peer, peer.socket);
    await this.#sessions?.save(session, formatSocket(peer.socket));
    return session.token;
  }
}
