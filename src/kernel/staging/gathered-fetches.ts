// The small files that tasks of one job have for themselves: what several tasks ask for while an
// answer is on its way comes in one request, as each task may read all that its job names.

import type { JobId } from '../model/ids.ts';
import { fetchSmall, type Named, type SmallContents } from '../transfer/download-pack.ts';
import type { HeadAccess } from '../transfer/head-access.ts';
import { unlessAborted } from './unless-aborted.ts';

/** What one task asks for. */
export interface SmallAsk {
  readonly access: HeadAccess;
  readonly contents: readonly Named[];
  /** Size of all contents. */
  readonly bytes: number;
  readonly signal: AbortSignal;
}

interface Waiting extends SmallAsk {
  /** Null: whoever asked for all could not get it. */
  readonly done: (came: SmallContents | null) => void;
}

/** Contents of one request, and their bytes, which are in memory all at a time. */
const TOGETHER_MAX = 500;
const TOGETHER_BYTES_MAX = 1_048_576;

export class GatheredFetches {
  /** By job: who waits for the next request. A job with none under way is not in it. */
  readonly #waiting = new Map<JobId, Waiting[]>();

  /** Rejects with the reason of the signal when that comes first. */
  async fetch(jobId: JobId, ask: SmallAsk): Promise<SmallContents> {
    if (ask.contents.length === 0) return new Map();
    const came = await this.#together(jobId, ask);
    // Each by itself: what has stopped the first task need not stop another.
    return came ?? (await fetchSmall(ask.access, ask.contents));
  }

  async #together(jobId: JobId, ask: SmallAsk): Promise<SmallContents | null> {
    const next = this.#waiting.get(jobId);
    if (next === undefined) {
      this.#waiting.set(jobId, []);
      try {
        return await fetchSmall(ask.access, ask.contents);
      } finally {
        this.#goOn(jobId);
      }
    }
    const answer = new Promise<SmallContents | null>((done) => next.push({ ...ask, done }));
    return unlessAborted(answer, ask.signal);
  }

  /** Asks for what has gathered; ends when nobody has asked meanwhile. */
  #goOn(jobId: JobId): void {
    const waiting = this.#waiting.get(jobId) ?? [];
    const some = takeSome(waiting);
    const [first] = some;
    if (first === undefined) {
      this.#waiting.delete(jobId);
      return;
    }
    const named = new Map(some.flatMap(({ contents }) => contents.map((one) => [one.hash, one])));
    fetchSmall(first.access, [...named.values()])
      .catch(() => null)
      .then((came) => {
        for (const { done } of some) done(came);
        this.#goOn(jobId);
      });
  }
}

/** Those at the front that fit into one request, at least one; who has given up is left out. */
function takeSome(waiting: Waiting[]): Waiting[] {
  const some: Waiting[] = [];
  let [count, bytes] = [0, 0];
  for (;;) {
    const [next] = waiting;
    if (next === undefined) return some;
    if (!next.signal.aborted) {
      count += next.contents.length;
      bytes += next.bytes;
      const isTooMuch = count > TOGETHER_MAX || bytes > TOGETHER_BYTES_MAX;
      if (some.length > 0 && isTooMuch) return some;
      some.push(next);
    }
    waiting.shift();
  }
}
