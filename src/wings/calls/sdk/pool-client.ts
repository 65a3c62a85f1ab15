// Calls with results told to a function, as an alternative to promises: ids are the caller's own.

import { wrongArgument } from '../../../kernel/sdk/errors.ts';
import type { CallOutcome, CallRecord } from './call-record.ts';

/** Told once for each call: its result, or its error. */
export type CallbackOf<Id> = (id: Id, outcome: CallOutcome<unknown>) => void | Promise<void>;

/**
 * Calls with ids of your own, unique among those of this client that are open. Each outcome goes to
 * the callback, one after the other as they come.
 */
export class PoolClient<Id extends string | number = string> {
  readonly #callback: CallbackOf<Id>;
  readonly #submit: (fn: object, args: readonly unknown[]) => CallRecord<unknown>;
  readonly #open = new Map<Id, CallRecord<unknown>>();
  /** Callbacks that are at work. */
  #telling = 0;
  #failure: { readonly error: unknown } | null = null;
  #wake: (() => void)[] = [];

  /** Not for programs: `pool.client` makes one. */
  constructor(
    callback: CallbackOf<Id>,
    submit: (fn: object, args: readonly unknown[]) => CallRecord<unknown>,
  ) {
    this.#callback = callback;
    this.#submit = submit;
  }

  /** Calls that have no outcome yet. */
  get openCalls(): number {
    return this.#open.size;
  }

  /** Throws `NotSendable`, or `argument.invalid` when a call with this id is open. */
  submit<A extends unknown[]>(id: Id, fn: (...args: A) => unknown, ...args: A): void {
    if (this.#open.has(id)) throw wrongArgument(`a call with the id ${JSON.stringify(id)} is open`);
    const record = this.#submit(fn, args);
    this.#open.set(id, record);
    record.whenEnded((outcome) => void this.#tell(id, outcome));
  }

  /** Asks for the end of a call; false when none with this id is open. */
  cancel(id: Id): boolean {
    const record = this.#open.get(id);
    record?.cancel();
    return record !== undefined;
  }

  /**
   * Resolves when every call has its outcome and the callback has returned, also for those that it
   * submitted meanwhile. Rejects with the first error that the callback threw.
   */
  async wait(): Promise<void> {
    while (this.#open.size > 0 || this.#telling > 0) {
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null) throw failure.error;
  }

  async #tell(id: Id, outcome: CallOutcome<unknown>): Promise<void> {
    this.#open.delete(id);
    this.#telling += 1;
    try {
      await this.#callback(id, outcome);
    } catch (error) {
      this.#failure ??= { error };
    } finally {
      this.#telling -= 1;
      for (const resolve of this.#wake.splice(0)) resolve();
    }
  }
}
