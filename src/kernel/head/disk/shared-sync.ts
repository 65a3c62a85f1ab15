// One sync for all that wait for the same file: whoever comes while one is under way gets the next
// one. After one that failed there is none: the system tells of lost bytes once, and calls the next
// sync of them good.

export class SharedSync {
  readonly #sync: () => Promise<void>;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(sync: () => Promise<void>) {
    this.#sync = sync;
  }

  /** Nothing that is written to this file can be told to be on the disk any more. */
  get hasFailed(): boolean {
    return this.#failure !== null;
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
    if (this.#failure !== null) throw this.#failure.error;
    const running = this.#sync().catch((error: unknown) => {
      this.#failure = { error };
      throw error;
    });
    this.#running = running;
    await running.finally(() => {
      if (this.#running === running) this.#running = null;
    });
  }
}
