// How busy the machine is, as this program feels it: times in which a timer came late.

import type { Span } from './evidence.ts';

const EVERY_MS = 200;
/** Shorter ones are within what the judge allows. */
const LATE_MS = 300;

export class Stalls {
  readonly #spans: Span[] = [];
  readonly #timer: NodeJS.Timeout;
  #due = Date.now() + EVERY_MS;

  constructor() {
    this.#timer = setInterval(() => this.#look(), EVERY_MS);
  }

  #look(): void {
    const now = Date.now();
    if (now - this.#due > LATE_MS) this.#spans.push({ from: this.#due, until: now });
    this.#due = now + EVERY_MS;
  }

  end(): Span[] {
    clearInterval(this.#timer);
    return this.#spans;
  }
}
