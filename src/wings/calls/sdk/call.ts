// One call of a function on a pool, as programs have it.

import type { CallRecord, CallState } from './call-record.ts';
import { Progress } from './progress.ts';

/**
 * A call that was submitted to a pool. Await it: it resolves with what the function returned, or
 * rejects with `RemoteError` or another error of calls, always once. An error that nobody awaits is
 * dropped.
 */
export class Call<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = 'Call';
  readonly #record: CallRecord<T>;

  /** Not for programs: `pool.submit` makes one. */
  constructor(record: object) {
    this.#record = record as CallRecord<T>;
  }

  /** Number of the call in its pool object, from 1. */
  get id(): number {
    return this.#record.id;
  }

  /** Name of the function. */
  get functionName(): string {
    return this.#record.functionName;
  }

  /** Calls that take only a moment go from `waiting` to `done`. */
  get state(): CallState {
    return this.#record.state;
  }

  /** Which attempt runs or ran, from 1; 0 while none is known to. */
  get attempt(): number {
    return this.#record.attempt;
  }

  /** The worker that runs it; null while none is known to. */
  get worker(): string | null {
    return this.#record.worker;
  }

  /**
   * What the function says by `call.progress(value)`, from when you first ask for this: ends with
   * the call, without its error. A reader that is slow gets the latest 1,000.
   */
  get progress(): AsyncIterable<unknown> {
    const record = this.#record;
    if (record.progress === null) {
      record.progress = new Progress();
      if (record.state === 'done') record.progress.end();
    }
    return record.progress;
  }

  /**
   * Asks for its end: it rejects with `CallCancelled`, unless it ends otherwise first. A running
   * function hears of it by `call.signal`, and is killed a second later.
   */
  cancel(): void {
    if (this.#record.state !== 'done') this.#record.cancel();
  }

  // biome-ignore lint/suspicious/noThenProperty: a call is awaited as a promise is.
  then<A = T, B = never>(
    fulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    // biome-ignore lint/suspicious/noExplicitAny: as a promise has it; a handler may name a class.
    rejected?: ((reason: any) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#record.asPromise().then(fulfilled, rejected);
  }

  /** The same as that of a promise. */
  // biome-ignore lint/suspicious/noExplicitAny: the same.
  catch<B = never>(rejected?: ((reason: any) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.#record.asPromise().catch(rejected);
  }

  /** The same as that of a promise. */
  finally(after?: (() => void) | null): Promise<T> {
    return this.#record.asPromise().finally(after);
  }
}
