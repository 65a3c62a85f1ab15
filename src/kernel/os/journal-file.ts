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
/** Nodes of one process share what they would have together: 4 have a whole reserve each. */
const SHARED_BYTES = 4 * RESERVE_BYTES;
/** The ends of some two hundred tasks. */
const RESERVE_BYTES_MIN = 65_536;
const OPEN_OR_MAKE = constants.O_RDWR | constants.O_CREAT;

/** What each of so many nodes of one process sets aside. */
export function reserveOfEach(nodes: number): number {
  const share = Math.floor(SHARED_BYTES / nodes);
  return Math.min(RESERVE_BYTES, Math.max(RESERVE_BYTES_MIN, share));
}

/** Opens or makes the file, mode 0600. Throws when it cannot. */
export function openJournalFile(path: string, reserveBytes = RESERVE_BYTES): JournalFile {
  return new PaddedFile(path, reserveBytes);
}

class PaddedFile implements JournalFile {
  readonly #path: string;
  readonly #reserveBytes: number;
  readonly #step: Buffer;
  #file: number;
  /** Ends of what was written, and of what the file system has given us. */
  #end: number;
  #size: number;

  constructor(path: string, reserveBytes: number) {
    this.#path = path;
    this.#reserveBytes = reserveBytes;
    this.#step = STEP.subarray(0, Math.min(STEP.length, reserveBytes));
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
      this.#pad(file, bytes.length);
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
    this.#size = bytes.length + this.#padding;
  }

  hasRoom(): boolean {
    try {
      while (this.#size < this.#end + this.#reserveBytes) {
        this.#size += writeSync(this.#file, this.#step, 0, this.#step.length, this.#size);
      }
      return true;
    } catch {
      return false; // Whatever the error: the answer is that there is no room to be had.
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  /** A step more than the reserve, so that the next writes find theirs. */
  #pad(file: number, from: number): void {
    for (let done = 0; done < this.#padding; done += this.#step.length) {
      writeWhole(file, this.#step, from + done);
    }
  }

  get #padding(): number {
    const steps = Math.ceil(this.#reserveBytes / this.#step.length) + 1;
    return steps * this.#step.length;
  }
}

function writeWhole(file: number, bytes: Uint8Array, offset: number): void {
  let written = 0;
  while (written < bytes.length) {
    written += writeSync(file, bytes, written, bytes.length - written, offset + written);
  }
}
