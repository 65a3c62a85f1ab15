// The routes of the head as one function: fills paths, logs in, and turns refusals into failures.

import { fillPath, methodAndPath, type RouteName } from '../../api/paths.ts';
import { refuse } from '../../core/model/errors.ts';
import { failure, failureFromReply } from '../failure.ts';
import type { Location } from './locate.ts';
import { logInLocally } from './local-login.ts';
import type { SessionCache } from './sessions.ts';
import { type Answer, createTransport, readText, type Transport } from './transport.ts';

export interface CallOptions {
  /** Values of `:name` in the path. */
  readonly params?: Readonly<Record<string, string>>;
  /** Undefined ones are left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** 0 = none. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export class Api {
  readonly #transport: Transport;
  readonly #location: Location;
  readonly #sessions: SessionCache;
  readonly #timeoutMs: number;
  #token: string | null;

  static async create(of: {
    location: Location;
    sessions: SessionCache;
    timeoutMs: number;
  }): Promise<Api> {
    return new Api(await createTransport(of.location), of);
  }

  private constructor(
    transport: Transport,
    of: { location: Location; sessions: SessionCache; timeoutMs: number },
  ) {
    this.#transport = transport;
    this.#location = of.location;
    this.#sessions = of.sessions;
    this.#timeoutMs = of.timeoutMs;
    const { location, sessions } = of;
    this.#token = location.kind === 'url' ? location.token : sessions.read(location.path);
  }

  get address(): string {
    return this.#transport.address;
  }

  /** The JSON of a successful answer; throws a failure for every other one. */
  async call<Reply>(route: RouteName, options: CallOptions = {}): Promise<Reply> {
    const answer = await this.open(route, options);
    return parseJson(await readText(answer.stream), this.address) as Reply;
  }

  /** As `call`, with the body left as a stream. */
  async open(route: RouteName, options: CallOptions = {}): Promise<Answer> {
    if (this.#token === null && this.#location.kind === 'socket') await this.#logIn();
    const answer = await this.#send(route, options, this.#token);
    // A restarted head has forgotten the sessions of the one before: log in once more.
    if (answer.status === 401 && this.#location.kind === 'socket') {
      answer.stream.resume();
      await this.#logIn();
      return succeed(await this.#send(route, options, this.#token), this.address);
    }
    return succeed(answer, this.address);
  }

  /** Without logging in: for health, and for joining with a token of another kind. */
  async openAnonymously(route: RouteName, options: CallOptions = {}): Promise<Answer> {
    return succeed(await this.#send(route, options, null), this.address);
  }

  close(): void {
    this.#transport.close();
  }

  async #logIn(): Promise<void> {
    if (this.#location.kind !== 'socket') return;
    const token = await logInLocally(async (route, body) => {
      const answer = await this.openAnonymously(route, { body });
      return parseJson(await readText(answer.stream), this.address);
    });
    this.#token = token;
    this.#sessions.write(this.#location.path, token);
  }

  #send(route: RouteName, options: CallOptions, token: string | null): Promise<Answer> {
    const { method, path } = methodAndPath(route);
    const { params = {}, query = {}, body, headers = {}, timeoutMs = this.#timeoutMs } = options;
    const bearer = token === null ? {} : { authorization: `Bearer ${token}` };
    return this.#transport.send({
      method,
      path: fillPath(path, params) + queryText(query),
      headers: { ...bearer, ...headers },
      timeoutMs,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
  }
}

async function succeed(answer: Answer, address: string): Promise<Answer> {
  if (answer.status < 300) return answer;
  const text = await readText(answer.stream);
  throw failureFromReply(answer.status, text.startsWith('{') ? parseJson(text, address) : null);
}

function queryText(query: NonNullable<CallOptions['query']>): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

function parseJson(text: string, address: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const cause = `it does not speak Weft (${JSON.stringify(text.slice(0, 40))})`;
    throw failure(refuse('head.unreachable', { address, cause }));
  }
}
