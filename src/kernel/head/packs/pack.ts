// One file of small contents: read at any place, written at its end only.

import { hash as hashOf } from 'node:crypto';
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { SharedSync } from '../disk/shared-sync.ts';
import {
  encodeGroup,
  type GroupFront,
  HEADER_BYTES,
  readFront,
  readStart,
  type SmallContent,
} from './pack-format.ts';

/** Read at a time to find what is there. */
const WINDOW_BYTES = 262_144;
const sync = promisify(fdatasync);
const syncFolder = promisify(fsync);

export interface PlacedGroup extends GroupFront {
  /** Where in the file it begins. */
  readonly at: number;
}

export class Pack {
  readonly path: string;
  readonly #fd: number;
  #length = 0;
  /** Bytes of the pack that are on the disk. */
  #settled = 0;
  #isNamed: boolean;
  readonly #sync = new SharedSync(() => this.#syncNow());

  /** `isNew`: there was no such file. */
  constructor(file: string, how: 'make' | 'open') {
    this.path = file;
    const isNew = how === 'make';
    this.#isNamed = !isNew;
    const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    this.#fd = openSync(file, O_RDWR | O_NOFOLLOW | (isNew ? O_CREAT | O_EXCL : 0), 0o600);
  }

  get length(): number {
    return this.#length;
  }

  /** Where it begins; there for everybody only after `settle`. Throws, and nothing is there. */
  append(user: string, contents: readonly SmallContent[]): PlacedGroup {
    const at = this.#length;
    const pieces = encodeGroup(user, contents, this.#settled);
    const front = readFront(pieces[0] as Buffer);
    if (front === null) throw new Error('a group of contents cannot be read as it was written');
    const bytes = Buffer.concat(pieces);
    try {
      for (let done = 0; done < bytes.length; ) {
        done += writeSync(this.#fd, bytes, done, bytes.length - done, at + done);
      }
    } catch (error) {
      ftruncateSync(this.#fd, at);
      throw error;
    }
    this.#length += bytes.length;
    return { ...front, at };
  }

  /** What was appended before is on the disk when it resolves. */
  settle(): Promise<void> {
    return this.#sync.settle();
  }

  read(offset: number, size: number): Buffer | null {
    const bytes = Buffer.allocUnsafe(size);
    return this.#fill(bytes, offset) === size ? bytes : null;
  }

  async close(): Promise<void> {
    await this.#sync.idle();
    closeSync(this.#fd);
  }

  /** All whole groups. What a head that was stopped in the middle has written behind them goes. */
  *recover(): Generator<PlacedGroup> {
    const { size } = fstatSync(this.#fd);
    let settled = 0;
    const late: PlacedGroup[] = [];
    for (const group of this.#groups(size)) {
      settled = Math.max(settled, group.settled);
      // Those that may not have been on the disk are looked at below, once it is known which.
      late.push(group);
      while (late[0] !== undefined && late[0].at < settled) yield late.shift() as PlacedGroup;
    }
    for (const group of late) {
      if (!this.#isAsHashed(group)) {
        this.#length = group.at;
        break;
      }
      yield group;
    }
    if (this.#length < size) ftruncateSync(this.#fd, this.#length);
    fsyncSync(this.#fd);
    this.#settled = this.#length;
  }

  *#groups(size: number): Generator<PlacedGroup> {
    const window = new Window(this, size);
    while (this.#length < size) {
      const at = this.#length;
      const start = readStart(window.at(at, HEADER_BYTES));
      if (start === null || at + start.length > size) return;
      const front = readFront(window.at(at, start.frontBytes));
      if (front === null) return;
      this.#length += front.length;
      yield { ...front, at };
    }
  }

  #isAsHashed({ rows, at }: PlacedGroup): boolean {
    return rows.every(({ hash, size, offset }) => {
      const bytes = this.read(at + offset, size);
      return bytes !== null && hashOf('sha256', bytes, 'hex') === hash;
    });
  }

  #fill(bytes: Buffer, offset: number): number {
    let done = 0;
    while (done < bytes.length) {
      const count = readSync(this.#fd, bytes, done, bytes.length - done, offset + done);
      if (count === 0) break;
      done += count;
    }
    return done;
  }

  async #syncNow(): Promise<void> {
    const length = this.#length;
    await sync(this.#fd);
    if (!this.#isNamed) await syncName(this.path);
    this.#isNamed = true;
    this.#settled = length;
  }
}

async function syncName(file: string): Promise<void> {
  const folder = openSync(path.dirname(file), 'r');
  await syncFolder(folder).finally(() => closeSync(folder));
}

/** A part of the file in memory: groups may be small, and there may be very many. */
class Window {
  readonly #pack: Pack;
  readonly #size: number;
  #from = 0;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(pack: Pack, size: number) {
    this.#pack = pack;
    this.#size = size;
  }

  /** Fewer bytes at the end of the file. */
  at(offset: number, length: number): Buffer {
    const isInside = offset >= this.#from && offset + length <= this.#from + this.#bytes.length;
    if (!isInside) {
      const left = Math.max(0, this.#size - offset);
      this.#bytes =
        this.#pack.read(offset, Math.min(left, Math.max(length, WINDOW_BYTES))) ?? Buffer.alloc(0);
      this.#from = offset;
    }
    const start = offset - this.#from;
    return this.#bytes.subarray(start, start + length);
  }
}
