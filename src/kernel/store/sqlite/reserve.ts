// Room kept back for the day on which the disk is full: a file that is deleted then, so that what
// only ends work can still be recorded.

import {
  closeSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { RESERVE_BYTES, RESERVE_FREE_MIN_BYTES } from './bounds.ts';

const PIECE_BYTES = 1_048_576;

const WITHOUT =
  'Nothing is kept back for a full disk: then not even ends could be recorded. ' +
  `Give the head's user ${RESERVE_BYTES / PIECE_BYTES} MiB more.`;

export class Reserve {
  readonly #path: string;
  readonly #directory: string;
  #isSpent: boolean;

  constructor(directory: string) {
    this.#directory = directory;
    this.#path = join(directory, 'weft.reserve');
    // An empty file stays where it was spent: the next head knows that the disk was full.
    this.#isSpent = this.#size() === 0;
  }

  /** True when the reserve was given up and not made again: what is written now uses its room. */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  /**
   * Makes it where there is plenty of room; says in words why it could not. A small disk has none,
   * nor has a small quota: nothing is held back there, and what was given up before is missed
   * still.
   */
  fill(): string | null {
    if (this.#size() === RESERVE_BYTES || this.#freeBytes() < RESERVE_FREE_MIN_BYTES) return null;
    try {
      this.#write();
      this.#isSpent = false;
      return null;
    } catch (error) {
      // A quota is not seen in advance: a reserve in part is none.
      if (this.#isSpent) truncateSync(this.#path, 0);
      else rmSync(this.#path, { force: true });
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error;
      const cause = code === 'EDQUOT' ? 'a quota does not allow it' : 'the disk has no room';
      return `${this.#path}: ${cause} (${code}). ${WITHOUT}`;
    }
  }

  /** The disk is full. Says whether there was something to give up. */
  spend(): boolean {
    if (this.#size() !== RESERVE_BYTES) return false;
    truncateSync(this.#path, 0);
    this.#isSpent = true;
    return true;
  }

  #size(): number | null {
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? null;
  }

  #freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.#directory);
    return bavail * bsize;
  }

  /** Not zeros: some file systems keep those as holes. */
  #write(): void {
    const file = openSync(this.#path, 'w', 0o600);
    try {
      const piece = Buffer.alloc(PIECE_BYTES, 'weft ');
      for (let done = 0; done < RESERVE_BYTES; done += PIECE_BYTES) writeSync(file, piece);
    } finally {
      closeSync(file);
    }
  }
}
