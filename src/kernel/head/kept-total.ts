// How many bytes all files below a directory have, kept in one small file there: a head that starts
// must not look at every one before it serves.

import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Log } from '../ports/log.ts';

/** Written again after this share of the limit has come or gone: what a kill -9 can hide. */
const STEP_SHARE = 1 / 256;
const STEP_BYTES_MIN = 1_048_576;

interface Note {
  readonly bytes: number;
  /** Written while the head ran: up to a step more may be there. */
  readonly open: boolean;
}

export interface KeptTotalOptions {
  readonly directory: string;
  readonly bytesMax: number;
  /** What is kept, for the log: `output`, `files`. */
  readonly what: string;
  readonly log: Log;
}

export class KeptTotal {
  readonly #file: string;
  readonly #stepBytes: number;
  readonly #log: Log;
  readonly #what: string;
  #bytes = 0;
  #noted: Note = { bytes: 0, open: false };
  #isExact = false;
  /** False: what came since the start is not all there is, and would be a lie to the next head. */
  #isKnown = false;
  #writing: Promise<void> | null = null;

  constructor({ directory, bytesMax, what, log }: KeptTotalOptions) {
    this.#what = what;
    this.#file = path.join(directory, 'total');
    this.#stepBytes = Math.max(STEP_BYTES_MIN, Math.floor(bytesMax * STEP_SHARE));
    this.#log = log;
  }

  /** Never less than what is there, once it has been read or counted. */
  get bytes(): number {
    return this.#bytes;
  }

  /** False: it may be too much, by a step for each kill of a head. */
  get isExact(): boolean {
    return this.#isExact;
  }

  /** One file is read, however much output there is. False: nobody knows, it has to be counted. */
  async read(): Promise<boolean> {
    const note = await this.#readNote();
    if (note === null) return false;
    this.#isKnown = true;
    this.#noted = note;
    this.#bytes = note.open ? note.bytes + this.#stepBytes : note.bytes;
    this.#isExact = !note.open;
    return true;
  }

  /** What came, or went when negative. */
  add(bytes: number): void {
    this.#bytes = Math.max(0, this.#bytes + bytes);
    this.#noteIfDue();
  }

  /** All files were looked at; `since`: the total when that began, as output came meanwhile. */
  counted(bytes: number, since: number): void {
    this.#bytes = Math.max(0, bytes + this.#bytes - since);
    this.#isExact = true;
    this.#isKnown = true;
    this.#note();
  }

  /** Leaves what the next head needs to know. */
  async close(): Promise<void> {
    await this.#writing;
    if (this.#isKnown) await this.#write({ bytes: this.#bytes, open: !this.#isExact });
  }

  #noteIfDue(): void {
    const isDue = !this.#noted.open || Math.abs(this.#bytes - this.#noted.bytes) >= this.#stepBytes;
    if (isDue) this.#note();
  }

  #note(): void {
    if (this.#writing !== null || !this.#isKnown) return;
    this.#writing = this.#write({ bytes: this.#bytes, open: true }).finally(() => {
      this.#writing = null;
    });
  }

  async #write(note: Note): Promise<void> {
    // Also after a failure: on a full disk not every piece of output tries again.
    this.#noted = note;
    try {
      await writeFile(`${this.#file}.new`, JSON.stringify(note), { mode: 0o600 });
      await rename(`${this.#file}.new`, this.#file);
    } catch (error) {
      this.#log.warn({ error: String(error) }, `the size of all ${this.#what} could not be noted`);
    }
  }

  async #readNote(): Promise<Note | null> {
    try {
      const note = JSON.parse(await readFile(this.#file, 'utf8')) as Partial<Note>;
      const { bytes, open } = note;
      return Number.isSafeInteger(bytes) && typeof open === 'boolean' ? (note as Note) : null;
    } catch (error) {
      const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (!isAbsent)
        this.#log.warn({ error: String(error) }, `the size of all ${this.#what} is counted`);
      return null;
    }
  }
}
