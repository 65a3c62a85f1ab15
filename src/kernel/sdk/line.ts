// The line of a program to its head: one client, patience while the head is away, and failures as
// `WeftError`.

import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../api/exchange.ts';
import type { RouteName } from '../api/paths.ts';
import type { ReplyOf } from '../api/routes.ts';
import { Api, type CallOptions } from '../connect/api.ts';
import type { HeadSocket } from '../connect/head-socket.ts';
import type { Location } from '../connect/locate.ts';
import { patiently } from '../connect/patience.ts';
import { SessionCache } from '../connect/sessions.ts';
import type { TransferContext } from '../transfer/transfer-context.ts';
import { asWeftError, WeftError } from './errors.ts';

export interface LineParts {
  readonly location: Location;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Longest time for one answer; 0: any. */
  readonly timeoutMs: number;
  /** While the head is away. */
  readonly patienceMs: number;
  /** The same for who waits for jobs, which go on without their head. */
  readonly waitPatienceMs?: number;
}

export class HeadConnection {
  readonly location: Location;
  readonly #api: Api;
  readonly patienceMs: number;
  readonly #waitPatienceMs: number;
  readonly #closing = new AbortController();

  constructor({ location, environment, timeoutMs, patienceMs, waitPatienceMs }: LineParts) {
    const sessions = new SessionCache(environment);
    this.location = location;
    this.#api = new Api({ location, sessions, timeoutMs });
    this.patienceMs = patienceMs;
    this.#waitPatienceMs = waitPatienceMs ?? patienceMs;
  }

  /** For messages. */
  get address(): string {
    return this.#api.address;
  }

  /** Aborted once the line is closed. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  /** A request that may be sent twice: tried again while the head is away. */
  call<N extends RouteName>(route: N, options: CallOptions<N> = {}): Promise<ReplyOf<N>> {
    return this.patiently(() => this.#api.call(route, options), options.signal);
  }

  /** The same for a question that waits for jobs; `restMs`: what is left of its time. */
  waitCall<N extends RouteName>(
    route: N,
    { restMs, ...options }: CallOptions<N> & { readonly restMs: number },
  ): Promise<ReplyOf<N>> {
    const totalMs = Math.min(restMs, this.#waitPatienceMs);
    const attempt = () => this.#api.call(route, options as unknown as CallOptions<N>);
    return this.patiently(attempt, options.signal, totalMs);
  }

  /** The beginning of an answer that is bytes. */
  stream<N extends RouteName>(route: N, options: CallOptions<N> = {}): Promise<Answer> {
    return this.patiently(() => this.#api.stream(route, options), options.signal);
  }

  /** Runs it again while the head is away, for as long as there is patience. */
  async patiently<T>(
    attempt: () => Promise<T>,
    signal?: AbortSignal,
    totalMs = this.patienceMs,
  ): Promise<T> {
    try {
      return await this.#patiently(attempt, signal, totalMs);
    } catch (error) {
      throw asWeftError(error);
    }
  }

  /** The same, with failures as those who carry files know them. */
  async #patiently<T>(
    attempt: () => Promise<T>,
    signal?: AbortSignal,
    totalMs = this.patienceMs,
  ): Promise<T> {
    signal?.throwIfAborted();
    if (this.closed.aborted) throw closedError(this.address);
    const ends = signal === undefined ? this.closed : AbortSignal.any([signal, this.closed]);
    const waiting = {
      hasMet: () => this.#api.met,
      isKnown: () => this.#api.answered,
      // A head that was killed leaves its socket behind, one that never was has none.
      isExpected: () => this.location.kind === 'url' || existsSync(this.location.path),
      note: () => undefined,
      signal: ends,
    };
    try {
      const patience = { totalMs, note: '', isOver: () => ends.aborted };
      return await patiently(waiting, patience, attempt);
    } catch (error) {
      signal?.throwIfAborted();
      if (this.closed.aborted) throw closedError(this.address);
      throw error;
    }
  }

  /**
   * A WebSocket to one of the head's paths, dialed once. Throws a failure, not yet an error of the
   * library.
   */
  dial(path: string, headers: Readonly<Record<string, string>> = {}): Promise<HeadSocket> {
    return this.#api.dial(path, { headers });
  }

  /** For files: whoever waits for them is told nothing meanwhile. */
  transfer(signal?: AbortSignal): TransferContext {
    const quiet = { start: () => undefined, moved: () => undefined, stop: () => undefined };
    return {
      access: {
        head: async () => this.#api,
        pause: (ms) => sleep(ms, undefined, { signal: signal ?? this.closed }),
        patiently: (_note, attempt) => this.#patiently(attempt, signal),
      },
      note: () => undefined,
      progress: () => quiet,
    };
  }

  close(): void {
    this.#closing.abort();
    this.#api.close();
  }
}

function closedError(address: string): WeftError {
  return new WeftError({
    code: 'cluster.closed',
    kind: 'failed_precondition',
    message: `The connection to ${address} was closed by this program.`,
    details: { address },
    hint: 'Call connect() again.',
  });
}
