// `weft.mark`: what was promised last, beside the database. SQLite takes a damaged or missing log
// for one that ends earlier; this file knows better (docs/decisions/0007-a-mark-beside-the-log.md).

import {
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Given } from '../../ports/store.ts';

/** The mark of the last record that was durable when it was written. */
export interface Mark {
  readonly seq: number;
  /** Checksum of that record, so that another one in its place is noticed. */
  readonly crc: number;
  readonly given: Given;
}

/** In place of a mark: this store is a copy, without what was accepted after it was made. */
export interface CopyMark {
  /** When the copy was made, as ISO 8601. */
  readonly copiedAt: string;
}

/** Null: there is none, as before the first record, or after a power cut that took the first. */
export type Noted = Mark | CopyMark | 'unreadable' | null;

/** Two slots, written in turn, each in a page of its own: a torn one leaves the other. */
const SLOT_BYTES = 4096;
/** A line of text in its slot, padded: longer than every number in it at its largest. */
const LINE_BYTES = 192;
const FORMAT = 'weft-mark-1';
/** Numbers of a line, before the identity of its file. */
const NUMBERS = 6;
const COPY = /^weft-copy-1 ([0-9TZ:.-]{1,40})\n$/;

export class MarkFile {
  readonly #directory: string;
  #file: number | null = null;
  /** Counts writes; the valid slot with the larger one is the newer. */
  #serial = 0;
  #isElsewhere = false;
  /** Identity of the open file. */
  #identity = '';

  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Whether what was read last was written into another file than this one: the folder was copied
   * to where it is, or a copy was put back into it. A copy of the whole machine is not noticed, nor
   * one of 0.1.0, whose marks name no file.
   */
  get isElsewhere(): boolean {
    return this.#isElsewhere;
  }

  read(): Noted {
    let bytes: Buffer;
    let own: string;
    try {
      bytes = readFileSync(this.#path);
      own = identityOf(statSync(this.#path, { bigint: true }));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
    const [, copiedAt] = COPY.exec(bytes.toString('latin1', 0, LINE_BYTES)) ?? [];
    if (copiedAt !== undefined) return { copiedAt };
    const slots = [0, 1].flatMap((slot) => readSlot(bytes.subarray(slot * SLOT_BYTES)) ?? []);
    const newest = slots.sort((a, b) => b.serial - a.serial)[0];
    if (newest === undefined) return 'unreadable';
    this.#serial = newest.serial;
    this.#isElsewhere = newest.file !== null && isAnotherFile(newest.file, own);
    return newest.mark;
  }

  /**
   * Called when the record is durable, never before: the mark may lag behind the database, as it
   * does when a power cut takes its last pages, but must not run ahead. Not synced, therefore.
   */
  write(mark: Mark): void {
    this.#serial += 1;
    if (this.#file === null) {
      this.#file = this.#open(mark);
      this.#identity = identityOf(fstatSync(this.#file, { bigint: true }));
    }
    const line = formatLine(this.#serial, mark, this.#identity);
    writeSync(this.#file, line, 0, LINE_BYTES, (this.#serial % 2) * SLOT_BYTES);
  }

  close(): void {
    if (this.#file === null) return;
    fsyncSync(this.#file);
    closeSync(this.#file);
    this.#file = null;
  }

  get #path(): string {
    return join(this.#directory, 'weft.mark');
  }

  /**
   * A new file at each start: a copy that is put back into the old one, as `cp` does it, then names
   * another. Where there is no room for one, as on a full disk, the old one is written on.
   */
  #open(mark: Mark): number {
    try {
      return this.#made(mark);
    } catch (error) {
      const known = this.#existing();
      if (known === null) throw error;
      return known;
    }
  }

  /** The new file is there whole or not at all. */
  #made(mark: Mark): number {
    const fresh = `${this.#path}.new`;
    const bytes = Buffer.alloc(2 * SLOT_BYTES);
    formatLine(this.#serial, mark, '').copy(bytes, (this.#serial % 2) * SLOT_BYTES);
    writeFileSync(fresh, bytes, { mode: 0o600, flush: true });
    renameSync(fresh, this.#path);
    const directory = openSync(this.#directory, 'r');
    fsyncSync(directory);
    closeSync(directory);
    return openSync(this.#path, 'r+');
  }

  #existing(): number | null {
    let file: number;
    try {
      file = openSync(this.#path, 'r+');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
    const last = Buffer.alloc(1);
    if (readSync(file, last, 0, 1, 2 * SLOT_BYTES - 1) === 1) return file;
    closeSync(file);
    return null;
  }
}

/** A store in `directory` that nobody has open becomes a copy: it opens if loss is accepted. */
export function markAsCopy(directory: string, { copiedAt }: CopyMark): void {
  const path = join(directory, 'weft.mark');
  writeFileSync(path, `weft-copy-1 ${copiedAt}\n`, { mode: 0o600, flush: true });
}

interface Born {
  readonly ino: bigint;
  readonly birthtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/**
 * Which file it is: a copy is another one, and a file that is moved within its disk the same.
 * Numbers of disks change when a machine starts, and numbers of files are used again: the time of
 * birth is not. Where it is not known Node gives 0, or the time of the last change, which says
 * nothing.
 */
export function identityOf({ ino, birthtimeNs, ctimeNs }: Born): string {
  return `${ino}.${birthtimeNs === ctimeNs ? 0n : birthtimeNs}`;
}

/** Births are compared where both are known. */
export function isAnotherFile(one: string, other: string): boolean {
  const [[ino, birth], [otherIno, otherBirth]] = [one.split('.'), other.split('.')];
  if (ino !== otherIno) return true;
  return birth !== '0' && otherBirth !== '0' && birth !== otherBirth;
}

/** `file`: its identity; empty: not known yet. */
function formatLine(serial: number, { seq, crc, given }: Mark, file: string): Buffer {
  const numbers = [serial, seq, crc, given.nextJobId, given.nextReservationId, given.epochMax];
  const text = `${FORMAT} ${numbers.join(' ')}${file === '' ? '' : ` ${file}`}`;
  const line = Buffer.alloc(LINE_BYTES, ' ');
  line.write(`${text} ${crc32(text)}`);
  line.write('\n', LINE_BYTES - 1);
  return line;
}

interface Slot {
  readonly serial: number;
  readonly mark: Mark;
  /** The file that it was written into; null: older releases did not say. */
  readonly file: string | null;
}

function readSlot(bytes: Buffer): Slot | null {
  const line = bytes.toString('latin1', 0, LINE_BYTES).trim();
  const end = line.lastIndexOf(' ');
  const text = line.slice(0, Math.max(0, end));
  const [format, ...words] = text.split(' ');
  if (format !== FORMAT || Number(line.slice(end)) !== crc32(text)) return null;
  const [serial = 0, seq = 0, crc = 0, nextJobId = 1, nextReservationId = 1, epochMax = 0] =
    words.map(Number);
  const given = { nextJobId, nextReservationId, epochMax };
  return { serial, mark: { seq, crc, given }, file: words[NUMBERS] ?? null };
}
