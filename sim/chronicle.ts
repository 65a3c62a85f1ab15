// What happens in a run, event by event: as a hash, and in words for whoever wants to read it; and
// the first rule that was broken.

import { crc32 } from 'node:zlib';
import { isSame } from '../src/kernel/base/same.ts';
import type { Log } from '../src/kernel/ports/log.ts';
import { decode } from '../src/kernel/wire/codec.ts';
import type { Time } from './clock.ts';
import type { Delivery, Link } from './net.ts';
import { asViolation, Violation } from './violation.ts';

/** More than this without time passing is a loop. */
const EVENTS_PER_INSTANT_MAX = 20_000;

export class Chronicle {
  /** The first failure counts; what follows is its consequence. */
  violation: Violation | null = null;
  readonly #time: Time;
  readonly #trace: ((line: string) => void) | undefined;
  #hash = 0;

  constructor(time: Time, trace: ((line: string) => void) | undefined) {
    this.#time = time;
    this.#trace = trace;
  }

  /** Made of every line with its instant. */
  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0');
  }

  readonly note = (text: string): void => {
    this.#hash = crc32(`${this.#time.now} ${text}`, this.#hash);
    this.#trace?.(`${(this.#time.now / 1000).toFixed(4).padStart(10)}  ${text}`);
  };

  /** A decision that is on the disk. */
  record(seq: number, event: { readonly kind: string }): void {
    this.note(`record ${seq}: ${this.#trace === undefined ? event.kind : JSON.stringify(event)}`);
  }

  fail(error: unknown): void {
    if (this.violation !== null) return;
    this.violation = asViolation(error);
    this.note(`${this.violation.rule}: ${this.violation.message}`);
  }

  /** A failed check inside somebody's callback must not be taken for an error of theirs. */
  readonly guard = (check: () => void): void => {
    try {
      check();
    } catch (error) {
      this.fail(error);
    }
  };

  log(who: string): Log {
    const say =
      (level: string) =>
      (fields: object, message: string): void =>
        this.#trace?.(`            ${who} ${level}: ${message} ${JSON.stringify(fields)}`);
    return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
  }

  /** Lets happen what is due up to this instant. Throws what was broken. */
  async until(instant: number, afterEvent: () => void): Promise<void> {
    let [since, here] = [this.#time.now, 0];
    while (this.violation === null && this.#time.step(instant)) {
      here = this.#time.now === since ? here + 1 : 0;
      since = this.#time.now;
      if (here > EVENTS_PER_INSTANT_MAX) throw new Violation('crash', 'time stands still');
      // All promises that this event has settled run before the next one.
      await new Promise<void>((resolve) => setImmediate(resolve));
      afterEvent();
    }
    if (this.violation !== null) throw this.violation;
  }

  /**
   * Hands over a message, and S7: the same once more has no effect.
   * @param look at the receiver: what it gives changes exactly when that has decided something
   */
  deliver(link: Link, { direction, bytes, again, hand }: Delivery, look: () => unknown): void {
    this.note(`${link.node} ${direction} ${this.#wordsOf(bytes)}${again ? ' again' : ''}`);
    if (!again) return hand();
    const before = look();
    hand();
    if (isSame(before, look())) return;
    throw new Violation('S7', `${link.node} ${direction}: the same message again has an effect`);
  }

  /** Runs it whole. What no promise chain has caught meanwhile belongs to the run too. */
  async watch(run: () => Promise<void>): Promise<void> {
    const onError = (error: unknown): void => this.fail(error);
    process.on('unhandledRejection', onError);
    process.on('uncaughtException', onError);
    try {
      await run();
    } catch (error) {
      this.fail(error);
    } finally {
      process.off('unhandledRejection', onError);
      process.off('uncaughtException', onError);
    }
  }

  #wordsOf(bytes: Uint8Array): string {
    if (this.#trace === undefined) return crc32(bytes).toString(16);
    const message = decode(bytes);
    return message.ok ? JSON.stringify(message.value) : message.error;
  }
}
