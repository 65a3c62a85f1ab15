// What a function says while it runs, for one or several readers of its call.

/** For a reader that does not read: the latest are the ones that count. */
const KEPT_MAX = 1000;

export class Progress implements AsyncIterable<unknown> {
  readonly #readers = new Set<Reader>();
  /** Said while nobody had begun to read. */
  #early: unknown[] = [];
  #isOver = false;
  #failure: { readonly error: unknown } | null = null;

  push(value: unknown): void {
    if (this.#readers.size === 0) keep(this.#early, value);
    for (const reader of this.#readers) reader.push(value);
  }

  /** What came cannot be read: readers are told when they have had what came before. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.end();
  }

  end(): void {
    this.#isOver = true;
    for (const reader of this.#readers) reader.wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<unknown, void, undefined> {
    const reader = new Reader(this.#early);
    this.#early = [];
    this.#readers.add(reader);
    try {
      for (;;) {
        while (reader.kept.length > 0) yield reader.kept.shift();
        if (this.#failure !== null) throw this.#failure.error;
        if (this.#isOver) return;
        await reader.more();
      }
    } finally {
      this.#readers.delete(reader);
    }
  }
}

class Reader {
  readonly kept: unknown[];
  #wake: (() => void) | null = null;

  constructor(kept: unknown[]) {
    this.kept = kept;
  }

  push(value: unknown): void {
    keep(this.kept, value);
    this.wake();
  }

  wake(): void {
    this.#wake?.();
    this.#wake = null;
  }

  more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

function keep(kept: unknown[], value: unknown): void {
  kept.push(value);
  if (kept.length > KEPT_MAX) kept.shift();
}
