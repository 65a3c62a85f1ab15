// A file of lines, each a record behind its checksum, for what comes and goes soon: one write and a
// shared sync instead of a file that is made, synced and removed. A line that was not written to
// its end is none. After a sync that failed the log goes on in a new file.

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

type SyncFile = (fd: number) => Promise<void>;

interface LogSpan {
  readonly offset: number;
  readonly length: number;
}

interface OpenedLog {
  readonly fd: number;
  readonly sync: SharedSync;
}

interface Copied {
  length: number;
  readonly places: Map<string, LogSpan>;
  /** Those that could not be read. */
  readonly lost: string[];
}

export class PartsLog {
  readonly #file: string;
  readonly #syncFile: SyncFile;
  #opened: OpenedLog;
  #length = 0;
  #liveBytes = 0;
  readonly #places = new Map<string, LogSpan>();
  /** Files that another one has taken the place of, until nobody waits for them. */
  readonly #retiring = new Set<Promise<void>>();

  /** Finds what is there; bytes behind the last whole line go. */
  constructor(file: string, syncFile: SyncFile = promisify(fdatasync)) {
    this.#file = file;
    this.#syncFile = syncFile;
    const fd = openLog(file);
    this.#opened = { fd, sync: new SharedSync(() => syncFile(fd)) };
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
    if (bytes.length > this.#length) ftruncateSync(fd, this.#length);
    fsyncSync(fd);
    syncFolderOf(file);
  }

  get keys(): string[] {
    return [...this.#places.keys()];
  }

  /** On the disk when it resolves; readers get it before. Rejects with the disk's error. */
  async put(key: string, value: unknown): Promise<void> {
    if (this.#opened.sync.hasFailed) this.#rewrite(new Set());
    const line = lineOf({ kind: 'put', key, value });
    const offset = this.#append(line);
    this.#put(key, { offset, length: line.length - 1 });
    await this.#opened.sync.settle();
  }

  /** Null when it is not there. */
  read(key: string): unknown {
    const place = this.#places.get(key);
    if (place === undefined) return null;
    const record = readLine(this.#bytesAt(place));
    return record?.kind === 'put' ? record.value : null;
  }

  /**
   * Not on the disk at once, but with the next `put` or `settle`: a part that is there again after
   * the machine lost power is looked at again. Throws, and all are there as before.
   */
  drop(keys: readonly string[]): void {
    const known = new Set(keys.filter((key) => this.#places.has(key)));
    if (known.size === 0) return;
    if (!this.#dropRewriting(known)) this.#append(lineOf({ kind: 'drop', keys: [...known] }));
    for (const key of known) this.#forget(key);
  }

  async settle(): Promise<void> {
    if (this.#opened.sync.hasFailed) this.#rewrite(new Set());
    await this.#opened.sync.settle();
  }

  async close(): Promise<void> {
    await Promise.all(this.#retiring);
    await this.#opened.sync.idle();
    closeSync(this.#opened.fd);
  }

  /** False: little would be gained, or there is no room for it. */
  #dropRewriting(known: ReadonlySet<string>): boolean {
    if (this.#places.size === known.size && this.#length >= EMPTIED_BYTES_MIN) {
      this.#empty();
      return true;
    }
    let liveBytes = this.#liveBytes;
    for (const key of known) liveBytes -= this.#places.get(key)?.length ?? 0;
    if (this.#length < REWRITTEN_BYTES_MIN || liveBytes >= this.#length / 2) return false;
    try {
      this.#rewrite(known);
      return true;
    } catch {
      // The disk is full, say: a line takes less of it, and tells of an error of its own.
      return false;
    }
  }

  #empty(): void {
    ftruncateSync(this.#opened.fd, 0);
    this.#length = 0;
  }

  #put(key: string, place: LogSpan): void {
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
      writeAll(this.#opened.fd, line, at);
    } catch (error) {
      ftruncateSync(this.#opened.fd, at);
      throw error;
    }
    this.#length += line.length;
    return at;
  }

  /** All but these, in a new file that takes the place of this one. Throws, and this one stays. */
  #rewrite(without: ReadonlySet<string>): void {
    const aside = `${this.#file}.new`;
    rmSync(aside, { force: true });
    const fd = openLog(aside);
    let copied: Copied;
    try {
      copied = this.#copyTo(fd, without);
      fsyncSync(fd);
      renameSync(aside, this.#file);
    } catch (error) {
      closeSync(fd);
      rmSync(aside, { force: true });
      throw error;
    }
    const old = this.#opened;
    this.#opened = { fd, sync: new SharedSync(this.#syncNamed(fd)) };
    this.#length = copied.length;
    for (const [key, place] of copied.places) this.#places.set(key, place);
    for (const key of copied.lost) this.#forget(key);
    // Whoever waits for the old one: what that is for is in the new one, too, which is on the disk.
    const retiring = old.sync.idle().then(() => {
      closeSync(old.fd);
      this.#retiring.delete(retiring);
    });
    this.#retiring.add(retiring);
  }

  #copyTo(fd: number, without: ReadonlySet<string>): Copied {
    const copied: Copied = { length: 0, places: new Map(), lost: [] };
    for (const [key, place] of this.#places) {
      if (without.has(key)) continue;
      const line = this.#bytesAt(place);
      // After a sync that failed the system may have forgotten what was written.
      if (readLine(line) === null) {
        copied.lost.push(key);
        continue;
      }
      writeAll(fd, Buffer.concat([line, Buffer.of(NEWLINE)]), copied.length);
      copied.places.set(key, { offset: copied.length, length: place.length });
      copied.length += place.length + 1;
    }
    return copied;
  }

  /** A sync of a file with a new name: until that is on the disk, nothing of it is. */
  #syncNamed(fd: number): () => Promise<void> {
    let isNamed = false;
    return async () => {
      await this.#syncFile(fd);
      if (!isNamed) syncFolderOf(this.#file);
      isNamed = true;
    };
  }

  #bytesAt({ offset, length }: LogSpan): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    let done = 0;
    while (done < length) {
      const count = readSync(this.#opened.fd, bytes, done, length - done, offset + done);
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

/** Returns null when it is no whole line. */
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
