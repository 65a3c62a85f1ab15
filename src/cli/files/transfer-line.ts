// How far a transfer is, on one line of a terminal that is written anew while it lasts. Never in a pipe
// or a file: there the lines would be part of what is kept.

import { formatBytes } from '../../core/base/size.ts';
import type { Progress } from '../../transfer/courier.ts';
import type { Context } from '../context.ts';
import { formatSpan } from '../output/words.ts';

/** What takes less time is over before somebody has read it. */
const FIRST_MS = 500;
const EVERY_MS = 250;
/** The rate is that of the last seconds: what was there before says little of what comes. */
const RATE_OVER_MS = 5000;
/** To the first column, and nothing right of it (ECMA-48: CR, EL). */
const CLEAR = '\r\x1b[K';

interface Sample {
  readonly atMs: number;
  readonly bytes: number;
}

export class TransferLine implements Progress {
  readonly #context: Context;
  readonly #verb: string;
  readonly #nowMs: () => number;
  #totalBytes = 0;
  #bytes = 0;
  #samples: Sample[] = [];
  #timer: NodeJS.Timeout | undefined;
  #shown = '';

  /** `verb`: what is going on, as `sending`. */
  constructor(context: Context, verb: string, nowMs: () => number = () => performance.now()) {
    this.#context = context;
    this.#verb = verb;
    this.#nowMs = nowMs;
  }

  /** So much is to go. */
  start(totalBytes: number): void {
    this.#totalBytes = totalBytes;
    this.#samples = [{ atMs: this.#nowMs(), bytes: 0 }];
    if (!this.#context.terminal.errorIsTerminal || totalBytes === 0) return;
    this.#context.statusLine = this;
    this.#timer = setTimeout(() => this.#tick(), FIRST_MS).unref();
  }

  /** So many bytes more have gone. */
  readonly moved = (bytes: number): void => {
    this.#bytes += bytes;
  };

  /** Makes room for another line; the next look writes it again. */
  clear(): void {
    this.#write('');
  }

  /** Takes the line away; may be called again. */
  stop(): void {
    clearTimeout(this.#timer);
    this.clear();
    if (this.#context.statusLine === this) this.#context.statusLine = null;
  }

  /** `sending 1.2G of 3.4G (35%), 120M/s, 18s left`. */
  words(): string {
    const [first] = this.#samples;
    const done = Math.min(this.#bytes, this.#totalBytes);
    const percent = Math.floor((100 * done) / this.#totalBytes);
    const far = `${this.#verb} ${formatBytes(done)} of ${formatBytes(this.#totalBytes)} (${percent}%)`;
    const tookMs = this.#nowMs() - (first?.atMs ?? 0);
    const perMs = tookMs > 0 ? (this.#bytes - (first?.bytes ?? 0)) / tookMs : 0;
    if (perMs <= 0) return far;
    const rate = `${formatBytes(Math.round(perMs * 1000))}/s`;
    return `${far}, ${rate}, ${formatSpan((this.#totalBytes - done) / perMs)} left`;
  }

  #tick(): void {
    const now = this.#nowMs();
    this.#samples.push({ atMs: now, bytes: this.#bytes });
    const from = this.#samples.findIndex(({ atMs }) => atMs >= now - RATE_OVER_MS);
    this.#samples.splice(0, from);
    this.#write(this.words());
    this.#timer = setTimeout(() => this.#tick(), EVERY_MS).unref();
  }

  #write(text: string): void {
    if (text === this.#shown) return;
    this.#shown = text;
    this.#context.terminal.error(`${CLEAR}${text}`);
  }
}
