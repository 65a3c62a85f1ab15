// How long the page waits for the head: a request ends when nothing of its answer has come for so
// long. A connection that stands open is no answer: a head that hangs holds it open for ever.

/** Until an answer begins, and between two pieces of it. */
export const ANSWER_MS = 30_000;

/** Silence for longer is a head that hangs, or a line that is dead: it sends a beat every 5 s. */
export const SILENCE_MS = 15_000;

/** Ends what waits for the head. Runs only while somebody waits: a reader may be slow. */
export class Patience {
  readonly #limitMs: number;
  readonly #over: () => Error;
  readonly #gone = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `over`: what is thrown then. */
  constructor(limitMs: number, over: () => Error) {
    this.#limitMs = limitMs;
    this.#over = over;
  }

  /** Aborted with that error when it is over. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  begin(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#gone.abort(this.#over()), this.#limitMs);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  /** What was waited for; a failure because of this patience is its own error. */
  async while<T>(wait: Promise<T>): Promise<T> {
    this.begin();
    try {
      return await wait;
    } catch (cause) {
      throw this.#gone.signal.aborted ? this.#gone.signal.reason : cause;
    } finally {
      this.end();
    }
  }
}

/** The same answer, each piece of which is waited for that long. */
export function watched(response: Response, patience: Patience): Response {
  const reader = response.body?.getReader();
  if (reader === undefined) return response;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(to) {
        const { done, value } = await patience.while(reader.read());
        if (done) to.close();
        else to.enqueue(value);
      },
      cancel: (why) => reader.cancel(why),
    },
    { highWaterMark: 0 },
  );
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

/** Whether a line on which something was heard then is still alive. Clocks may be set meanwhile. */
export function isAlive(heardAt: number, now: number): boolean {
  return Math.abs(now - heardAt) <= SILENCE_MS;
}
