// One sync for all that wait for the same file: whoever comes while one is under way gets the next one.

export class SharedSync {
  readonly #sync: () => Promise<void>;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  constructor(sync: () => Promise<void>) {
    this.#sync = sync;
  }

  /** What was written before this call is on the disk when it resolves. */
  settle(): Promise<void> {
    this.#next ??= this.#afterRunning();
    return this.#next;
  }

  /** Resolves when no sync is under way; never rejects. */
  async idle(): Promise<void> {
    while (this.#next !== null || this.#running !== null) {
      await (this.#next ?? this.#running)?.catch(() => undefined);
    }
  }

  async #afterRunning(): Promise<void> {
    // Whoever comes in this turn of the event loop comes along.
    await (this.#running?.catch(() => undefined) ?? new Promise<void>(setImmediate));
    this.#next = null;
    const running = this.#sync();
    this.#running = running;
    await running.finally(() => {
      if (this.#running === running) this.#running = null;
    });
  }
}
