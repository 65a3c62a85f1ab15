// The client of the API as verbs use it: with time-outs, and with failures that say what to do.

import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { ApiError } from '../api/api-error.ts';
import { type Client, type CallOptions as ClientCall, createClient } from '../api/client.ts';
import type { Answer } from '../api/exchange.ts';
import type { RouteName } from '../api/paths.ts';
import type { ReplyOf } from '../api/routes.ts';
import type { Address } from '../api/transport.ts';
import { refuse } from '../model/errors.ts';
import { Failure, failure } from '../model/failure.ts';
import type { HeadSocket, SocketRequest } from './head-socket.ts';
import { type Location, SYSTEM_SOCKET } from './locate.ts';
import { readLiveMark } from './process-file.ts';
import type { SessionCache } from './sessions.ts';

export interface CallOptions<N extends RouteName> extends ClientCall<N> {
  /** 0 = none; absent: as configured. */
  readonly timeoutMs?: number;
}

export interface ApiParts {
  readonly location: Location;
  readonly sessions: SessionCache;
  /** 0 = none. */
  readonly timeoutMs: number;
}

/** For a handshake, where requests have no time-out. */
const DIAL_MS = 30_000;

export class Api {
  readonly #client: Client;
  readonly #timeoutMs: number;
  #met = false;
  #answered = false;

  constructor({ location, sessions, timeoutMs }: ApiParts) {
    const address = addressOf(location);
    const local = location.kind === 'socket';
    this.#client = createClient({
      address,
      ...(local
        ? { sessions: sessions.of(location.path) }
        : { token: location.token ?? undefined }),
    });
    this.#timeoutMs = timeoutMs;
  }

  /** For messages: the socket's path, or host and port. */
  get address(): string {
    return this.#client.address;
  }

  /** True once something has answered, or taken the connection at least. */
  get met(): boolean {
    return this.#met;
  }

  /** True once a head has answered, were it with a refusal. */
  get answered(): boolean {
    return this.#answered;
  }

  /** The JSON of a successful answer; throws a failure for every other one. */
  call<N extends RouteName>(route: N, options: CallOptions<N> = {}): Promise<ReplyOf<N>> {
    return this.#timed(options, (timed) => this.#client.call(route, timed));
  }

  /** For answers that are bytes. The time-out is for the beginning of the answer only. */
  stream<N extends RouteName>(route: N, options: CallOptions<N> = {}): Promise<Answer> {
    return this.#timed(options, (timed) => this.#client.stream(route, timed));
  }

  /** A connection to one of the head's paths, a WebSocket unless told else; throws a failure. */
  async dial(
    path: string,
    how: Pick<SocketRequest, 'protocol' | 'headers'> = {},
  ): Promise<HeadSocket> {
    const { dialHead } = await import('./head-socket.ts');
    try {
      const timeoutMs = this.#timeoutMs || DIAL_MS;
      const socket = await dialHead(this.#client, { ...how, path, timeoutMs });
      this.#met = true;
      return socket;
    } catch (error) {
      throw this.#asFailure(error);
    }
  }

  close(): void {
    this.#client.close();
  }

  async #timed<N extends RouteName, T>(
    { timeoutMs = this.#timeoutMs, ...options }: CallOptions<N>,
    send: (options: ClientCall<N>) => Promise<T>,
  ): Promise<T> {
    const aborter = new AbortController();
    const timer = timeoutMs > 0 ? setTimeout(() => aborter.abort(), timeoutMs) : undefined;
    try {
      const { signal: given } = options;
      const signal = given ? AbortSignal.any([aborter.signal, given]) : aborter.signal;
      const answer = await send({ ...options, signal });
      this.#met = true;
      this.#answered = true;
      return answer;
    } catch (error) {
      options.signal?.throwIfAborted();
      const why = aborter.signal.aborted ? this.#noAnswer(timeoutMs) : this.#asFailure(error);
      this.#met ||= !(why instanceof Failure && isNobodyThere(why));
      this.#answered ||= why instanceof Failure && why.code !== 'head.unreachable';
      throw why;
    } finally {
      clearTimeout(timer);
    }
  }

  #noAnswer(timeoutMs: number): Failure {
    const cause = `no answer within ${timeoutMs / 1000} s`;
    return failure(refuse('head.unreachable', { address: this.address, cause }));
  }

  #asFailure(error: unknown): unknown {
    if (!(error instanceof ApiError)) return this.#loginFailure(error);
    const { code: problem, kind, message, details: given } = error;
    if (problem !== 'head.unreachable') {
      const hint = problem === 'auth.required' ? TOKEN_HINT : error.hint;
      return new Failure({ code: problem, kind, message, details: given, hint });
    }
    const code = (error.cause as NodeJS.ErrnoException | undefined)?.code;
    const cause = CAUSES[code ?? ''] ?? error.details['cause'] ?? 'unknown';
    const details = { address: this.address, cause };
    return failure(refuse('head.unreachable', details, hintFor(code, this.address)), error.cause);
  }

  // The only file that a client makes is the directory of the local login.
  #loginFailure(error: unknown): unknown {
    const { code, syscall, path } = error as NodeJS.ErrnoException;
    if (syscall !== 'mkdir' && syscall !== 'rmdir') return error;
    const what = `cannot make the directory ${path} for the local login (${code})`;
    return failure(
      refuse('auth.required', { what }, 'Log in with a token instead: --head and WEFT_TOKEN.'),
    );
  }
}

function addressOf(location: Location): Address {
  if (location.kind === 'socket') return { socketPath: location.path };
  const { url, fingerprint } = location;
  return fingerprint === null ? { url: url.href } : { url: url.href, fingerprint };
}

const CAUSES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such socket',
  ENOTDIR: 'there is no such socket',
  ENOTFOUND: 'no host has that name',
  ECONNREFUSED: 'nothing listens there',
  EACCES: 'permission denied',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed; pass --fingerprint',
};

const TOKEN_HINT =
  '`weft login` gets a token; or put one into WEFT_TOKEN, or the token_file of client.yaml.';

const NOBODY = new Set(['ENOENT', 'ENOTDIR', 'ECONNREFUSED']);

/** Nobody has heard the request: waiting a moment for an answer would be in vain. */
export function isNobodyThere({ code, cause }: Failure): boolean {
  return code === 'head.unreachable' && NOBODY.has(errnoOf(cause));
}

/** The way to the head is closed to this user: waiting does not open it. */
export function isForbidden({ code, cause }: Failure): boolean {
  return code === 'head.unreachable' && errnoOf(cause) === 'EACCES';
}

function errnoOf(cause: unknown): string {
  return (cause as NodeJS.ErrnoException | undefined)?.code ?? '';
}

function hintFor(code: string | undefined, address: string): string {
  if (code === 'DEPTH_ZERO_SELF_SIGNED_CERT') {
    return 'Pass the fingerprint that the head shows: --fingerprint, or WEFT_FINGERPRINT.';
  }
  if (code === 'EACCES') return 'Ask its owner for a token, or name another cluster with --dir.';
  if (address === SYSTEM_SOCKET) {
    return `The head restarts or was stopped. Try again, or ${lookAtService()}.`;
  }
  if (!address.startsWith('/'))
    return 'Check the address, and that the head runs; `weft doctor` checks both.';
  const folder = path.dirname(address);
  if (code === 'ENOENT' && headElsewhere(folder)) {
    return `The head of that folder runs. One that is for all users of a machine serves ${SYSTEM_SOCKET}: leave --dir and WEFT_DIR out.`;
  }
  if (isAnothers(folder)) {
    return "That folder is another user's: ask them to start the cluster, or name one of yours with --dir.";
  }
  return 'Start a cluster here with `weft up`, or name one with --dir or --head.';
}

/** By whoever starts services on this machine. */
function lookAtService(): string {
  return existsSync('/run/systemd/system')
    ? 'see `systemctl status weft-head`'
    : 'have root start it; without systemd nothing starts it after a reboot';
}

/** Whether the head of a folder lives and serves, without a socket there: none of `weft up`. */
function headElsewhere(folder: string): boolean {
  if (existsSync(path.join(folder, 'cluster.json'))) return false;
  return readLiveMark(path.join(folder, 'run', 'head.pid')) !== null;
}

/** Whether only somebody else can start a cluster there. */
function isAnothers(folder: string): boolean {
  const uid = process.getuid?.();
  try {
    return uid !== 0 && statSync(folder).uid !== uid;
  } catch {
    return false; // It is not there, or no folder.
  }
}
