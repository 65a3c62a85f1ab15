// Contents sent and fetched for a verb: with its client, the patience that a person has, and a line
// that says how far it is.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Progress, TransferContext } from '../../transfer/transfer-context.ts';
import type { Context } from '../context.ts';
import { type Look, paceOf, withLook } from '../progress/pace.ts';
import { StatusLine } from '../progress/status-line.ts';
import { byteWords } from '../progress/words.ts';
import { withPatience } from './patience.ts';

/** A head that restarts is back within seconds; a line that works again may take longer. */
const AWAY_MAX_MS = 120_000;

/** `isQuiet`: how far it is, is not told. */
export function transferOf(context: Context, { isQuiet = false } = {}): TransferContext {
  return {
    access: {
      head: () => context.api(),
      pause: (ms) => sleep(ms),
      patiently: (note, attempt) => withPatience(context, { totalMs: AWAY_MAX_MS, note }, attempt),
    },
    note: (line) => context.note(line),
    progress: (errand) => (isQuiet ? UNSEEN : new TransferProgress(context, errand)),
  };
}

const UNSEEN: Progress = {
  start: () => undefined,
  moved: () => undefined,
  stop: () => undefined,
};

/** What takes less time is over before somebody has read it. */
const FIRST_MS = 500;
const EVERY_MS = 250;
/** The rate is that of the last seconds: what was there before says little of what comes. */
const RATE_OVER_MS = 5000;

export class TransferProgress implements Progress {
  readonly #context: Context;
  readonly #verb: string;
  readonly #nowMs: () => number;
  #totalBytes = 0;
  #bytes = 0;
  #looks: readonly Look[] = [];
  #timer: NodeJS.Timeout | undefined;
  #line: StatusLine | null = null;

  /** `verb`: what is going on, as `sending`. */
  constructor(context: Context, verb: string, nowMs: () => number = () => performance.now()) {
    this.#context = context;
    this.#verb = verb;
    this.#nowMs = nowMs;
  }

  /** Begins with the number of bytes to move. */
  start(totalBytes: number): void {
    if (totalBytes === 0) return;
    this.#totalBytes = totalBytes;
    this.#looks = [{ atMs: this.#nowMs(), done: 0 }];
    this.#line = new StatusLine(this.#context, this.#nowMs);
    this.#again(FIRST_MS);
  }

  /** Counts bytes that have moved. */
  readonly moved = (bytes: number): void => {
    this.#bytes += bytes;
  };

  /** Takes the line away; may be called again. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#line?.close();
  }

  /** Looks, and says what is to be seen. */
  tick(): void {
    const look = { atMs: this.#nowMs(), done: this.#bytes };
    this.#looks = withLook(this.#looks, look, RATE_OVER_MS);
    const pace = paceOf(this.#looks, this.#totalBytes);
    this.#line?.show(byteWords(this.#verb, this.#bytes, this.#totalBytes, pace));
  }

  /** Each look is kept also where it is not shown: the rate is that of the last ones. */
  #again(ms: number): void {
    this.#timer = setTimeout(() => {
      this.tick();
      this.#again(EVERY_MS);
    }, ms).unref();
  }
}
