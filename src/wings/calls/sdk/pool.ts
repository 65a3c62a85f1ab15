// A pool of workers, as programs have it: functions run on it as if they were here.

import type { Duration } from '../../../kernel/model/options/types.ts';
import { wrongArgument } from '../../../kernel/sdk/errors.ts';
import { checkOptions } from '../../../kernel/sdk/known-options.ts';
import type { HeadConnection } from '../../../kernel/sdk/line.ts';
import { durationMs } from '../../../kernel/sdk/submission.ts';
import type { Shared } from '../functions/serialization/shared.ts';
import { Call } from './call.ts';
import type { CallRecord } from './call-record.ts';
import { addCaller } from './caller.ts';
import { inFlightOf, itemsOf, type MapOutcome, mapItems } from './map.ts';
import { CALL_OPTIONS, MAP_OPTIONS } from './option-names.ts';
import type { CallRequest, PoolCalls } from './pool-calls.ts';
import { type CallbackOf, PoolClient } from './pool-client.ts';
import type {
  CallOptions,
  MapOptions,
  ModuleReference,
  OverloadArguments,
  OverloadResult,
  PoolFunction,
  PoolStatus,
  Sendable,
  WorkerRange,
} from './pool-options.ts';
import { scalePool, stopPool } from './start-pool.ts';

const RETRIES_MAX = 1000;

/** Runs functions on a pool; `pool.with(options)` is one with other options. */
export class PoolCaller {
  readonly #calls: PoolCalls;
  readonly #wish: CallRequest;

  /** Not for programs. */
  constructor(calls: object, options: CallOptions = {}) {
    this.#calls = calls as PoolCalls;
    this.#wish = wishOf(options);
  }

  /**
   * Runs a function on a worker, and resolves with what it returns. Its code goes to each worker
   * once; the variables that it uses are read when it is first given to this pool. Throws
   * `NotSendable` when it, or an argument, cannot travel; otherwise rejects as `Call` does.
   */
  run<A extends unknown[], R>(fn: (...args: A) => R, ...args: Sendable<A>): Promise<Awaited<R>>;
  run<F extends PoolFunction, A extends OverloadArguments<F>>(
    fn: F,
    ...args: A
  ): Promise<Awaited<OverloadResult<F, A>>>;
  run<T = unknown>(fn: ModuleReference, ...args: unknown[]): Promise<T>;
  async run(fn: object, ...args: unknown[]): Promise<unknown> {
    try {
      return await this.#calls.submit(fn, args, this.#wish).asPromise();
    } catch (error) {
      addCaller(error);
      throw error;
    }
  }

  /** The same, with a handle of the call. Throws `NotSendable` at once. */
  submit<A extends unknown[], R>(fn: (...args: A) => R, ...args: Sendable<A>): Call<Awaited<R>>;
  submit<F extends PoolFunction, A extends OverloadArguments<F>>(
    fn: F,
    ...args: A
  ): Call<Awaited<OverloadResult<F, A>>>;
  submit<T = unknown>(fn: ModuleReference, ...args: unknown[]): Call<T>;
  submit(fn: object, ...args: unknown[]): Call<unknown> {
    return new Call(this.#calls.submit(fn, args, this.#wish));
  }
}

/**
 * A pool of workers. `close()`, or the end of `await using`, ends the line to it: open calls are
 * cancelled, and a pool without a name, which this program started, is stopped.
 */
export class Pool extends PoolCaller implements AsyncDisposable {
  /** Number of the pool, which is that of its job. */
  readonly id: number;
  readonly #line: HeadConnection;
  readonly #calls: PoolCalls;
  readonly #isOwn: boolean;
  #isClosed = false;

  /** Not for programs: `cluster.pool` makes one. */
  constructor(
    line: object,
    of: { readonly id: number; readonly calls: object; readonly isOwn: boolean },
  ) {
    super(of.calls);
    this.#line = line as HeadConnection;
    this.#calls = of.calls as PoolCalls;
    this.id = of.id;
    this.#isOwn = of.isOwn;
  }

  /** Calls of this object that are not over. */
  get openCalls(): number {
    return this.#calls.openCalls;
  }

  /** What the head last said of the pool; null before it has. */
  get status(): PoolStatus | null {
    const { numbers } = this.#calls;
    if (numbers === null) return null;
    const { workers, busy, waiting, why } = numbers;
    return { workers, busy, waiting, why };
  }

  /** The same pool with options for its calls: `pool.with({ retries: 2 }).run(f, x)`. */
  with(options: CallOptions): PoolCaller {
    return new PoolCaller(this.#calls, options);
  }

  /**
   * Runs a function for each item. At most `inFlight` items are under way or wait to be read, so
   * that memory stays bounded for any number of them. The first call that fails ends it with its
   * error; ending it early cancels what is open.
   */
  async *map<I, T>(
    fn: ((item: I) => T) | ModuleReference,
    items: Iterable<I> | AsyncIterable<I>,
    options: MapOptions = {},
  ): AsyncGenerator<Awaited<T>, void, undefined> {
    for await (const outcome of this.mapSettled(fn, items, options)) {
      if (!outcome.ok) {
        addCaller(outcome.error);
        throw outcome.error;
      }
      yield outcome.value;
    }
  }

  /**
   * The same, but a call that fails is an outcome among the others, as is an item that cannot be
   * sent. A function that cannot be sent, or a signal, ends it with that.
   */
  mapSettled<I, T>(
    fn: ((item: I) => T) | ModuleReference,
    items: Iterable<I> | AsyncIterable<I>,
    mapping: MapOptions = {},
  ): AsyncGenerator<MapOutcome<Awaited<T>>, void, undefined> {
    checkOptions('map', mapping, MAP_OPTIONS);
    const { inFlight, ordered = true, ...options } = mapping;
    const wish = wishOf(options);
    const submit = (item: I): CallRecord<Awaited<T>> =>
      this.#calls.submitOrRefuse(fn, [item], wish);
    const bounds = { inFlight: inFlightOf(inFlight), ordered };
    return mapItems({ items: itemsOf(items), submit, ...bounds });
  }

  /**
   * A handle of a large value that many calls use: each worker gets it once. In arguments, and in
   * variables that functions use, it stands for the value; write `handle.value` in the function for
   * the latter.
   */
  share<T>(value: T): Shared<T> {
    return this.#calls.share(value);
  }

  /** Calls with ids of your own, and outcomes told to a function. */
  client<Id extends string | number = string>(
    callback: CallbackOf<Id>,
    options: CallOptions = {},
  ): PoolClient<Id> {
    const wish = wishOf(options);
    return new PoolClient(callback, (fn, args) => this.#calls.submit(fn, args, wish));
  }

  /** Resolves when no call of this object is open. */
  idle(): Promise<void> {
    return this.#calls.idle();
  }

  /** Changes how many workers it may have. */
  async scale(workers: number | Partial<WorkerRange>): Promise<void> {
    await scalePool(this.#line, this.id, workers);
  }

  /** Ends the pool and its workers: open calls of all programs end as `PoolClosed`. */
  async stop(): Promise<void> {
    await stopPool(this.#line, this.id);
    this.#isClosed = true;
    this.#calls.stopped();
  }

  /** Ends the line to it. Open calls are cancelled; a pool without a name is stopped. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#calls.close();
    if (this.#isOwn) await stopPool(this.#line, this.id);
  }

  /** The same as `close()`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function wishOf(options: CallOptions): CallRequest {
  checkOptions('a call', options, CALL_OPTIONS);
  const { retries = 0, timeout, attemptTimeout, signal } = options;
  if (!Number.isSafeInteger(retries) || retries < 0 || retries > RETRIES_MAX) {
    throw wrongArgument(`retries: ${retries} is not a number from 0 to ${RETRIES_MAX}`);
  }
  const timeoutMs = limitOf('timeout', timeout);
  const attemptTimeoutMs = limitOf('attemptTimeout', attemptTimeout);
  if (signal !== undefined && typeof signal?.throwIfAborted !== 'function') {
    throw wrongArgument('signal: it is no AbortSignal');
  }
  return { retriesMax: retries, timeoutMs, attemptTimeoutMs, signal };
}

/** Ms; 0: none. */
function limitOf(name: string, limit: Duration | undefined): number {
  if (limit === undefined) return 0;
  const ms = durationMs(name, limit);
  if (ms < 1) throw wrongArgument(`${name}: it is 0; leave it out for no limit`);
  return ms;
}
