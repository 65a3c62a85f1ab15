// The typed client of the API: one call per route, errors as ApiError. Loads no schema library, so
// that a command starts quickly; what it sends is checked by the head.

import type { IncomingMessage } from 'node:http';
import { errorFromAnswer } from './api-error.ts';
import { loginLocally } from './local-login.ts';
import { fillPath, methodAndPath, type RouteName } from './paths.ts';
import { readText } from './read-text.ts';
import type { Body, ReplyOf } from './routes.ts';
import { type Address, createTransport, type Transport } from './transport.ts';
import type { FinishLoginReply } from './users.ts';

export interface ClientOptions {
  readonly address: Address;
  /** A bearer token; absent on the unix socket: the client logs in by itself. */
  readonly token?: string | undefined;
  /** Where a session token lives between two commands; absent: only in this client. */
  readonly sessions?: SessionKeeper | undefined;
}

export interface SessionKeeper {
  load(): Promise<string | null>;
  save(session: FinishLoginReply): Promise<void>;
}

export interface CallOptions<N extends RouteName> {
  readonly params?: Readonly<Record<string, string>>;
  /** Undefined values are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: Body<N>;
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
  /** For routes that answer with bytes: logs, events, metrics. Throws ApiError unless it is 200. */
  stream<N extends RouteName>(route: N, options?: CallOptions<N>): Promise<IncomingMessage>;
  close(): void;
}

export function createClient(options: ClientOptions): Client {
  const transport = createTransport(options.address);
  const credentials = new Credentials(transport, options);
  async function stream<N extends RouteName>(route: N, call: CallOptions<N> = {}) {
    const answer = await attempt(transport, route, call, await credentials.current());
    if (answer.statusCode === 200) return answer;
    const text = await readText(answer, transport.address);
    if (answer.statusCode !== 401 || !credentials.renewable) {
      throw errorFromAnswer(answer.statusCode ?? 0, text);
    }
    // A restarted head knows no sessions: prove it again, once.
    const again = await attempt(transport, route, call, await credentials.renew());
    if (again.statusCode === 200) return again;
    throw errorFromAnswer(again.statusCode ?? 0, await readText(again, transport.address));
  }
  return {
    address: transport.address,
    stream,
    async call(route, call) {
      const text = await readText(await stream(route, call), transport.address);
      return JSON.parse(text);
    },
    close: () => transport.close(),
  };
}

function attempt<N extends RouteName>(
  transport: Transport,
  route: N,
  call: CallOptions<N>,
  token: string | null,
): Promise<IncomingMessage> {
  const { method, path } = methodAndPath(route);
  const headers: Record<string, string> = { ...call.headers };
  if (token !== null) headers['authorization'] = `Bearer ${token}`;
  if (call.body !== undefined) headers['content-type'] = 'application/json';
  if (call.key !== undefined) headers['idempotency-key'] = call.key;
  return transport.send({
    method,
    path: fillPath(path, call.params ?? {}) + formatQuery(call.query ?? {}),
    headers,
    body: call.body === undefined ? undefined : JSON.stringify(call.body),
    signal: call.signal,
  });
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
  readonly #transport: Transport;
  readonly #sessions: SessionKeeper | undefined;
  #token: Promise<string | null> | undefined;

  constructor(transport: Transport, { token, sessions }: ClientOptions) {
    this.#transport = transport;
    this.#sessions = sessions;
    this.renewable = token === undefined && transport.local;
    if (token !== undefined) this.#token = Promise.resolve(token);
    else if (!transport.local) this.#token = Promise.resolve(null);
  }

  current(): Promise<string | null> {
    this.#token ??= this.#kept(this.#load());
    return this.#token;
  }

  renew(): Promise<string | null> {
    this.#token = this.#kept(this.#login());
    return this.#token;
  }

  /** A login that failed is not remembered: the head may be there the next time. */
  #kept(login: Promise<string | null>): Promise<string | null> {
    login.catch(() => {
      this.#token = undefined;
    });
    return login;
  }

  async #load(): Promise<string | null> {
    return (await this.#sessions?.load()) ?? this.#login();
  }

  async #login(): Promise<string> {
    const session = await loginLocally(this.#transport);
    await this.#sessions?.save(session);
    return session.token;
  }
}
