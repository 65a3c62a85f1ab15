// Writes bytes to a file as they come, gathered for some milliseconds or up to a size, so that a
// fast sender costs few system calls. Bounded in memory.

import type { FileHandle } from 'node:fs/promises';

/** Written at once when so much has come; at four times this the writer is waited for. */
const GATHERED_BYTES = 256 * 1024;
const WAITING_BYTES = 4 * GATHERED_BYTES;
/** And after so long, however little it is. */
const GATHERED_MS = 5;
/** Sent to the disk in between: left to the end, all of it would be waited for at once. */
const SYNC_BYTES = 32 * 1_048_576;

export interface FileWriterParts {
  readonly file: FileHandle;
  /** Where the next byte belongs. */
  readonly at: number;
  /** Told of all that the system has taken. */
  readonly written: (bytes: number) => void;
  /** False: somebody else writes to the file now. */
  readonly mayWrite: () => boolean;
}

export class FileWriter {
  readonly #file: FileHandle;
  readonly #written: (bytes: number) => void;
  readonly #mayWrite: () => boolean;
  #at: number;
  #gathered: Uint8Array[] = [];
  #bytes = 0;
  #unsynced = 0;
  #isWriting = false;
  #writing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;
  #syncing: Promise<void> = Promise.resolve();

  constructor({ file, at, written, mayWrite }: FileWriterParts) {
    this.#file = file;
    this.#at = at;
    this.#written = written;
    this.#mayWrite = mayWrite;
  }

  /** Settles when nothing is being written; never rejects. */
  get idle(): Promise<void> {
    return this.#writing.catch(() => undefined);
  }

  /** Waits only for a disk that is slower than the sender. Rejects when a write has failed. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#gathered.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes >= GATHERED_BYTES) this.#begin();
    else this.#timer ??= setTimeout(() => this.#begin(), GATHERED_MS);
    if (this.#bytes >= WAITING_BYTES) await this.#writing;
  }

  /** Everything is written when it resolves. */
  async end(): Promise<void> {
    this.#begin();
    await this.#writing;
    await this.#syncing;
  }

  #begin(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#isWriting || this.#gathered.length === 0) return;
    this.#isWriting = true;
    this.#writing = this.#writeGathered();
    // Told to whoever writes next, or ends.
    this.#writing.catch(() => undefined);
  }

  async #writeGathered(): Promise<void> {
    while (this.#gathered.length > 0 && this.#mayWrite()) {
      const all = this.#gathered.splice(0);
      this.#bytes = 0;
      for (let rest = all; rest.length > 0; ) {
        const { bytesWritten } = await this.#file.writev(rest, this.#at);
        this.#at += bytesWritten;
        this.#unsynced += bytesWritten;
        this.#written(bytesWritten);
        rest = dropBytes(rest, bytesWritten);
      }
      if (this.#unsynced >= SYNC_BYTES) await this.#sync();
    }
    this.#isWriting = false;
  }

  /** One at a time, beside the writes that follow. */
  async #sync(): Promise<void> {
    await this.#syncing;
    this.#unsynced = 0;
    this.#syncing = this.#file.datasync();
    this.#syncing.catch(() => undefined);
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
