// One line of a terminal that is written anew while somebody waits. Where there is no terminal the
// same words come as plain lines, seldom: there they are part of what is kept.

import type { Context } from '../context.ts';
import { cutLine } from '../output/cut-line.ts';
import { plainDueMs } from './pace.ts';

/** To the first column, and nothing right of it (ECMA-48: CR, EL). */
const CLEAR = '\r\x1b[K';
const COLUMNS = 80;

export class StatusLine {
  readonly #context: Context;
  readonly #isTerminal: boolean;
  readonly #begunMs: number;
  readonly #nowMs: () => number;
  #plainLines = 0;
  #shown = '';

  constructor(context: Context, nowMs: () => number) {
    this.#context = context;
    this.#isTerminal = context.terminal.errorIsTerminal;
    this.#nowMs = nowMs;
    this.#begunMs = nowMs();
    if (this.#isTerminal) context.statusLine = this;
  }

  /** How long until there is something to write: `everyMs` on a terminal. */
  restMs(everyMs: number): number {
    if (this.#isTerminal) return everyMs;
    const due = this.#begunMs + plainDueMs(this.#plainLines);
    return Math.max(everyMs, due - this.#nowMs());
  }

  show(text: string): void {
    if (this.#isTerminal) return this.#write(text);
    if (text === '' || this.#nowMs() < this.#begunMs + plainDueMs(this.#plainLines)) return;
    // A machine that slept owes one line, not those of the whole night.
    do this.#plainLines += 1;
    while (this.#nowMs() >= this.#begunMs + plainDueMs(this.#plainLines));
    this.#context.note(text);
  }

  /** Makes room for another line; the next look writes it again. */
  clear(): void {
    this.#write('');
  }

  /** Takes the line away; may be called again. */
  close(): void {
    this.clear();
    if (this.#context.statusLine === this) this.#context.statusLine = null;
  }

  #write(text: string): void {
    // A line that goes on in the next one could not be taken away.
    const columns = (this.#context.terminal.columns?.() || COLUMNS) - 1;
    const line = cutLine(text, columns);
    if (line === this.#shown) return;
    this.#shown = line;
    this.#context.terminal.error(`${CLEAR}${line}`);
  }
}
