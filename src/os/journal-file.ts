// The JournalFile port: one descriptor, kept open, written synchronously. Not synced: see the port.
// The reserve is zeros behind the end: blocks that the file system has given us already, so that
// writing over them needs no room (not so on file systems that copy on write).

import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import type { JournalFile } from '../ports/journal-file.ts';

/** The ends of some ten thousand tasks; a node on a full disk gets no new ones. */
export const RESERVE_BYTES = 4 * 1_048_576;
/** The reserve is moved on in steps: a system call per MiB of journal, not per write. */
const STEP = Buffer.alloc(1_048_576);
const OPEN_OR_MAKE = constants.O_RDWR | constants.O_CREAT;

/** Opens or makes the file, mode 0600. Throws when it cannot. */
export function openJournalFile(path: string): JournalFile {
  return new PaddedFile(path);
}

class PaddedFile implements JournalFile {
  readonly #path: string;
  #file: number;
  /** Ends of what was written, and of what the file system has given us. */
  #end: number;
  #size: number;

  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, OPEN_OR_MAKE, 0o600);
    this.#size = fstatSync(this.#file).size;
    this.#end = 0;
  }

  read(): Uint8Array {
    return new Uint8Array(readFileSync(this.#path));
  }

  write(offset: number, bytes: Uint8Array): void {
    writeWhole(this.#file, bytes, offset);
    this.#end = offset + bytes.length;
    this.#size = Math.max(this.#size, this.#end);
    this.hasRoom();
  }

  replace(bytes: Uint8Array): void {
    const path = `${this.#path}.new`;
    const file = openSync(path, OPEN_OR_MAKE | constants.O_TRUNC, 0o600);
    try {
      writeWhole(file, bytes, 0);
      writeWhole(file, Buffer.alloc(RESERVE_BYTES + STEP.length), bytes.length);
      renameSync(path, this.#path);
    } catch (error) {
      closeSync(file);
      // It would sit on the very room that is missing.
      rmSync(path, { force: true });
      throw error;
    }
    closeSync(this.#file);
    this.#file = file;
    this.#end = bytes.length;
    this.#size = bytes.length + RESERVE_BYTES + STEP.length;
  }

  hasRoom(): boolean {
    try {
      while (this.#size < this.#end + RESERVE_BYTES) {
        this.#size += writeSync(this.#file, STEP, 0, STEP.length, this.#size);
      }
      return true;
    } catch {
      return false; // Whatever the error: the answer is that there is no room to be had.
    }
  }

  close(): void {
    closeSync(this.#file);
  }
}

function writeWhole(file: number, bytes: Uint8Array, offset: number): void {
  let written = 0;
  while (written < bytes.length) {
    written += writeSync(file, bytes, written, bytes.length - written, offset + written);
  }
}
