// A function over many items: a bounded number of them is under way, whatever their number is.

import { wrongArgument } from '../../../kernel/sdk/errors.ts';
import { CallTable } from '../core/call-table.ts';
import { Fifo } from '../core/fifo.ts';
import type { CallOutcome, CallRecord } from './call-record.ts';

/** How one item of `mapSettled` ended. */
export type MapOutcome<T> = CallOutcome<T> & {
  /** Place of the item, from 0. */
  readonly index: number;
};

export interface Mapping<I, T> {
  readonly items: Iterable<I> | AsyncIterable<I>;
  readonly submit: (item: I) => CallRecord<T>;
  readonly inFlight: number;
  readonly ordered: boolean;
}

const IN_FLIGHT = 1000;

/** Throws when it is no number of items. */
export function inFlightOf(inFlight: number = IN_FLIGHT): number {
  if (Number.isSafeInteger(inFlight) && inFlight >= 1) return inFlight;
  throw wrongArgument(`inFlight: ${inFlight} is not a number of items, 1 or more`);
}

/** Throws when there is nothing to go through: programs in JavaScript have no types that say it. */
export function itemsOf<I>(items: Mapping<I, never>['items']): Mapping<I, never>['items'] {
  // An empty object for null and undefined, which are refused, too.
  const seen = Object(items) as object;
  if (Symbol.iterator in seen || Symbol.asyncIterator in seen) return items;
  throw wrongArgument(`items: ${String(items)} is nothing that can be iterated, as an array is`);
}

/** Ends when all items have; whoever stops reading before cancels what is open. */
export async function* mapItems<I, T>(
  mapping: Mapping<I, T>,
): AsyncGenerator<MapOutcome<T>, void, undefined> {
  const mapper = new Mapper(mapping);
  const feeding = mapper.feed();
  try {
    for (;;) {
      const outcome = await mapper.next();
      if (outcome === null) return;
      yield outcome;
      mapper.took();
    }
  } finally {
    mapper.stop();
    // A source that thinks for ever is not waited for.
    void feeding;
  }
}

class Mapper<I, T> {
  readonly #mapping: Mapping<I, T>;
  readonly #open = new CallTable<CallRecord<T>>();
  /**
   * Ended and not read: by index where the order of the items counts, else in the order of their
   * ends.
   */
  readonly #byIndex = new CallTable<MapOutcome<T>>();
  readonly #ended = new Fifo<MapOutcome<T>>();
  /** Taken from the source, and not yet read to the end. */
  #size = 0;
  #nextRead = 0;
  #isTaken = false;
  #isStopped = false;
  #failure: { readonly error: unknown } | null = null;
  #wakeReader: () => void = () => undefined;
  #wakeFeeder: () => void = () => undefined;

  constructor(mapping: Mapping<I, T>) {
    this.#mapping = mapping;
  }

  /** Never rejects: what goes wrong with the source, or cannot be sent, the reader is told. */
  async feed(): Promise<void> {
    const { items, submit, inFlight } = this.#mapping;
    let index = 0;
    try {
      for await (const item of items) {
        if (this.#isStopped) return;
        this.#add(index, submit(item));
        index += 1;
        while (this.#size >= inFlight && !this.#isStopped) {
          await new Promise<void>((resolve) => {
            this.#wakeFeeder = resolve;
          });
        }
        if (this.#isStopped) return;
      }
    } catch (error) {
      this.#failure = { error };
    } finally {
      this.#isTaken = true;
      this.#wakeReader();
    }
  }

  /** Returns null when there is nothing more. Throws when the source has failed. */
  async next(): Promise<MapOutcome<T> | null> {
    for (;;) {
      if (this.#failure !== null) throw this.#failure.error;
      const found = this.#take();
      if (found !== undefined) return found;
      if (this.#isTaken && this.#size === 0) return null;
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
  }

  /** The reader is done with the last one. */
  took(): void {
    this.#size -= 1;
    this.#wakeFeeder();
  }

  stop(): void {
    this.#isStopped = true;
    this.#wakeFeeder();
    for (const record of this.#open.values()) record.cancel();
    this.#open.clear();
  }

  #add(index: number, record: CallRecord<T>): void {
    this.#size += 1;
    const ended = (outcome: CallOutcome<T>): void => {
      this.#open.delete(index);
      if (this.#isStopped) return;
      const { ordered } = this.#mapping;
      const found = outcome.ok
        ? { ok: outcome.ok, value: outcome.value, index }
        : { ok: outcome.ok, error: outcome.error, index };
      if (ordered) this.#byIndex.set(index, found);
      else this.#ended.push(found);
      if (!ordered || index === this.#nextRead) this.#wakeReader();
    };
    this.#open.set(index, record);
    record.whenEnded(ended);
  }

  #take(): MapOutcome<T> | undefined {
    if (!this.#mapping.ordered) return this.#ended.shift();
    const found = this.#byIndex.get(this.#nextRead);
    if (found === undefined) return undefined;
    this.#byIndex.delete(this.#nextRead);
    this.#nextRead += 1;
    return found;
  }
}
