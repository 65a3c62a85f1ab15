// A file of lines, each a record behind its checksum, for what comes and goes soon: one write and a shared
// sync instead of a file that is made, synced and removed. A line that was not written to its end is none.

import { hash as hashOf } from 'node:crypto';
import {
  closeSync,
  constants,
  fdatasync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { SharedSync } from '../disk/shared-sync.ts';

const SUM_LENGTH = 16;
const NEWLINE = 10;
/** A shorter log is left as it is, whatever of it has gone. */
const EMPTIED_BYTES_MIN = 1_048_576;
const REWRITTEN_BYTES_MIN = 4 * 1_048_576;
const sync = promisify(fdatasync);

interface Place {
  readonly offset: number;
  readonly length: number;
}

export class PartsLog {
  readonly #file: string;
  #fd: number;
  #length = 0;
  #liveBytes = 0;
  readonly #places = new Map<string, Place>();
  readonly #sync = new SharedSync(() => this.#syncNow());
  /** The file of which a sync is under way. */
  #syncing: number | null = null;

  /** Finds what is there; bytes behind the last whole line go. */
  constructor(file: string) {
    this.#file = file;
    this.#fd = openLog(file);
    const bytes = readFileSync(file);
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, this.#length)) {
      const line = bytes.subarray(this.#length, end);
      const place = { offset: this.#length, length: line.length };
      this.#length = end + 1;
      const record = readLine(line);
      if (record === null) continue;
      if (record.kind === 'put') this.#put(record.key, place);
      else for (const key of record.keys) this.#forget(key);
    }
    if (bytes.length > this.#length) ftruncateSync(this.#fd, this.#length);
    fsyncSync(this.#fd);
    syncFolderOf(file);
  }

  get keys(): string[] {
    return [...this.#places.keys()];
  }

  /** On the disk when it resolves; whoever reads meanwhile gets it. Rejects with the disk's error. */
  async put(key: string, value: unknown): Promise<void> {
    const line = lineOf({ kind: 'put', key, value });
    const offset = this.#append(line);
    this.#put(key, { offset, length: line.length - 1 });
    await this.#sync.settle();
  }

  /** Null when it is not there. */
  read(key: string): unknown {
    const place = this.#places.get(key);
    if (place === undefined) return null;
    const record = readLine(this.#bytesAt(place));
    return record?.kind === 'put' ? record.value : null;
  }

  /**
   * Not on the disk at once, but with the next `put` or `settle`: a part that is there again after the
   * machine lost power is looked at again.
   */
  drop(keys: readonly string[]): void {
    const known = keys.filter((key) => this.#places.has(key));
    if (known.length === 0) return;
    for (const key of known) this.#forget(key);
    if (this.#places.size === 0 && this.#length >= EMPTIED_BYTES_MIN) this.#empty();
    else if (this.#length >= REWRITTEN_BYTES_MIN && this.#liveBytes < this.#length / 2) {
      this.#rewrite();
    } else this.#append(lineOf({ kind: 'drop', keys: known }));
  }

  settle(): Promise<void> {
    return this.#sync.settle();
  }

  async close(): Promise<void> {
    await this.#sync.idle();
    closeSync(this.#fd);
  }

  #empty(): void {
    ftruncateSync(this.#fd, 0);
    this.#length = 0;
  }

  #put(key: string, place: Place): void {
    this.#forget(key);
    this.#places.set(key, place);
    this.#liveBytes += place.length;
  }

  #forget(key: string): void {
    this.#liveBytes -= this.#places.get(key)?.length ?? 0;
    this.#places.delete(key);
  }

  /** Where the line begins. Throws, and nothing is there. */
  #append(line: Buffer): number {
    const at = this.#length;
    try {
      writeAll(this.#fd, line, at);
    } catch (error) {
      ftruncateSync(this.#fd, at);
      throw error;
    }
    this.#length += line.length;
    return at;
  }

  /** What is needed, in a new file that takes the place of this one. */
  #rewrite(): void {
    const aside = `${this.#file}.new`;
    rmSync(aside, { force: true });
    const fd = openLog(aside);
    const moved = new Map<string, Place>();
    let length = 0;
    for (const [key, place] of this.#places) {
      writeAll(fd, Buffer.concat([this.#bytesAt(place), Buffer.of(NEWLINE)]), length);
      moved.set(key, { offset: length, length: place.length });
      length += place.length + 1;
    }
    fsyncSync(fd);
    renameSync(aside, this.#file);
    syncFolderOf(this.#file);
    const old = this.#fd;
    this.#fd = fd;
    this.#length = length;
    for (const [key, place] of moved) this.#places.set(key, place);
    // A sync that is under way closes it: what that is for is in the new one, which is on the disk.
    if (this.#syncing !== old) closeSync(old);
  }

  async #syncNow(): Promise<void> {
    const fd = this.#fd;
    this.#syncing = fd;
    try {
      await sync(fd);
    } finally {
      this.#syncing = null;
      if (fd !== this.#fd) closeSync(fd);
    }
  }

  #bytesAt({ offset, length }: Place): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    let done = 0;
    while (done < length) {
      const count = readSync(this.#fd, bytes, done, length - done, offset + done);
      if (count === 0) break;
      done += count;
    }
    return bytes.subarray(0, done);
  }
}

type LogRecord =
  | { readonly kind: 'put'; readonly key: string; readonly value: unknown }
  | { readonly kind: 'drop'; readonly keys: readonly string[] };

function lineOf(record: LogRecord): Buffer {
  const text = JSON.stringify(record);
  return Buffer.from(`${sumOf(text)} ${text}\n`);
}

/** Null: it is no whole line. */
function readLine(line: Buffer): LogRecord | null {
  const said = line.toString('latin1', 0, SUM_LENGTH);
  const rest = line.subarray(SUM_LENGTH + 1);
  return line.length > SUM_LENGTH && said === sumOf(rest) ? JSON.parse(rest.toString()) : null;
}

function sumOf(text: string | Buffer): string {
  return hashOf('sha256', text, 'hex').slice(0, SUM_LENGTH);
}

function writeAll(fd: number, bytes: Buffer, at: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(fd, bytes, done, bytes.length - done, at + done);
  }
}

function openLog(file: string): number {
  return openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
}

function syncFolderOf(file: string): void {
  const folder = openSync(path.dirname(file), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
