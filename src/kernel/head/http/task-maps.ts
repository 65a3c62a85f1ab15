// What readers of arrays were told last, so that they are told only what has changed since. Within
// a fixed size: whoever has seen what is kept no more gets all of it again.

import { changesOf, type Letters } from '../answers/task-letters.ts';

/** All versions that are kept together. */
const BYTES_MAX = 32 * 1_048_576;
/** Readers of one job share an answer that is so old at most. */
const FRESH_MS = 1000;

interface SentMap {
  readonly version: string;
  readonly letters: Letters;
}

/** When letters were taken, and whether their job was done by then. */
interface Taken {
  readonly at: number;
  readonly isDone: boolean;
}

interface Newest extends SentMap, Taken {}

/** One answer: all of it, or what has changed. */
export interface TaskMap {
  readonly version: string;
  readonly letters: Letters;
  /** Null: all of it has to be told. */
  readonly changes: ReturnType<typeof changesOf>;
}

export class TaskMaps {
  /** Versions of an earlier head are not ours. */
  readonly #head: string;
  readonly #newest = new Map<number, Newest>();
  /** By version, the oldest first. */
  readonly #told = new Map<string, { readonly jobId: number; readonly letters: Letters }>();
  #bytes = 0;
  #count = 0;
  #lives = -1;

  constructor(head: string) {
    this.#head = head;
  }

  /**
   * Null when nothing that is fresh is known of it. What was known while the job went on is not
   * fresh when it is done: readers ask no more then. `lives`: of the engine.
   */
  fresh(jobId: number, { at, isDone, lives }: Taken & { readonly lives: number }): Letters | null {
    this.#forgetBefore(lives);
    const newest = this.#newest.get(jobId);
    if (newest === undefined || newest.isDone !== isDone) return null;
    return newest.at <= at && at - newest.at < FRESH_MS ? newest.letters : null;
  }

  /** `since`: the version that the reader has. */
  tell(jobId: number, letters: Letters, taken: Taken, since: string | undefined): TaskMap {
    const version = this.#keep(jobId, letters, taken);
    const before = since === undefined ? undefined : this.#told.get(since);
    const isOurs = before !== undefined && before.jobId === jobId;
    return { version, letters, changes: isOurs ? changesOf(before.letters, letters) : null };
  }

  #keep(jobId: number, letters: Letters, { at, isDone }: Taken): string {
    const newest = this.#newest.get(jobId);
    if (newest !== undefined && isSame(newest.letters, letters)) {
      if (newest.letters !== letters) this.#newest.set(jobId, { ...newest, at, isDone });
      return newest.version;
    }
    this.#count += 1;
    const version = `${this.#head}-${this.#count}`;
    this.#newest.set(jobId, { version, letters, at, isDone });
    this.#told.set(version, { jobId, letters });
    this.#bytes += letters.length;
    this.#trim();
    return version;
  }

  #trim(): void {
    for (const [version, { jobId, letters }] of this.#told) {
      if (this.#bytes <= BYTES_MAX) return;
      this.#told.delete(version);
      this.#bytes -= letters.length;
      if (this.#newest.get(jobId)?.version === version) this.#newest.delete(jobId);
    }
  }

  /** What was seen of a state that was thrown away may never have been. */
  #forgetBefore(lives: number): void {
    if (lives === this.#lives) return;
    this.#lives = lives;
    this.#newest.clear();
    this.#told.clear();
    this.#bytes = 0;
  }
}

function isSame(one: Letters, other: Letters): boolean {
  return one === other || Buffer.compare(one, other) === 0;
}
