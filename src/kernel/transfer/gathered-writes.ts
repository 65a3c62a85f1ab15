// Writes to a file beside what comes next: bytes are gathered meanwhile, so that a fast line costs
// few system calls and does not wait for each. Bounded in memory.

import type { FileHandle } from 'node:fs/promises';

/** Written together from so much on; a writer that is behind is waited for at four times this. */
const BLOCK_BYTES = 1_048_576;
const WAITING_BYTES = 4 * BLOCK_BYTES;

export class GatheredWrites {
  readonly #file: FileHandle;
  #at: number;
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #writing: Promise<void> | null = null;

  constructor(file: FileHandle, at: number) {
    this.#file = file;
    this.#at = at;
  }

  /** Waits only for a disk that is slower than the line. Rejects when a write has failed. */
  async write(piece: Uint8Array): Promise<void> {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes < BLOCK_BYTES) return;
    this.#writing ??= this.#begin();
    if (this.#bytes >= WAITING_BYTES) await this.#writing;
  }

  /** All of it is written when it resolves. */
  async end(): Promise<void> {
    await this.#writing;
    if (this.#bytes > 0) await this.#begin();
  }

  #begin(): Promise<void> {
    const writing = this.#writeAll();
    // Told to whoever writes next, or ends.
    writing.catch(() => undefined);
    return writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#bytes > 0) {
      let rest: Uint8Array[] = this.#pieces.splice(0);
      this.#bytes = 0;
      while (rest.length > 0) {
        const { bytesWritten } = await this.#file.writev(rest, this.#at);
        this.#at += bytesWritten;
        rest = dropBytes(rest, bytesWritten);
      }
    }
    // Not after a failure: whoever writes next is told of it.
    this.#writing = null;
  }
}

/** A short write is followed by the error that it was cut by. */
function dropBytes(all: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let left = bytes;
  return all.flatMap((piece) => {
    const gone = Math.min(left, piece.length);
    left -= gone;
    return gone === piece.length ? [] : [piece.subarray(gone)];
  });
}
