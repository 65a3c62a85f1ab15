// A terminal that a test looks at and types on.

import type { OpenScreen, Screen, ScreenEvents } from '../../../../src/kernel/cli/screen.ts';

type Picture = readonly string[];

export class FakeScreen implements Screen {
  picture: Picture = [];
  openCount = 0;
  isOpen = false;
  #size = { columns: 80, rows: 24 };
  #events: ScreenEvents | null = null;
  #waiting: (() => void)[] = [];

  size() {
    return this.#size;
  }

  open(events: ScreenEvents): OpenScreen {
    this.#events = events;
    this.isOpen = true;
    this.openCount += 1;
    return {
      show: (lines) => this.#show(lines),
      forget: () => undefined,
      close: () => {
        this.isOpen = false;
      },
    };
  }

  sleep(): void {
    if (this.isOpen) throw new Error('the terminal must be given back first');
  }

  type(keys: string): void {
    this.#events?.keys(keys);
  }

  resize(columns: number, rows: number): void {
    this.#size = { columns, rows };
    this.#events?.resized();
  }

  hangUp(): void {
    this.#events?.ended();
  }

  /** Resolves with the first picture, from the one of now on, that has such a line. */
  async shows(pattern: RegExp): Promise<string> {
    const until = performance.now() + 20_000;
    for (;;) {
      const text = this.picture.join('\n');
      if (pattern.test(text)) return text;
      if (performance.now() > until) throw new Error(`never shown: ${pattern}\n${text}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 20_000);
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  #show(lines: Picture): void {
    this.picture = lines;
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
