// Ctrl-C and its kin: the first asks what runs to end, the second ends it.

import type { Stops } from './workshop.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export class Stopper {
  /** The first that came. */
  signal: NodeJS.Signals | null = null;
  readonly #stop = new AbortController();
  readonly #kill = new AbortController();
  readonly #note: (line: string) => void;
  readonly #onSignal = (signal: NodeJS.Signals) => this.#on(signal);

  constructor(note: (line: string) => void) {
    this.#note = note;
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  get stops(): Stops {
    return { stop: this.#stop.signal, kill: this.#kill.signal };
  }

  close(): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }

  #on(signal: NodeJS.Signals): void {
    if (this.signal !== null) {
      this.#kill.abort();
      return;
    }
    this.signal = signal;
    this.#note('ending running jobs and keeping their results; once more to end at once');
    this.#stop.abort();
  }
}
