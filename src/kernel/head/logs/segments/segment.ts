// The segment of one job: a file to which small outputs of its tasks are appended, and in memory
// where each of them lies. What comes while a write is under way goes out with the next.

import { constants } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import type { Log } from '../../../ports/log.ts';
import { openExisting } from '../log-disk.ts';
import { encodeHead, type Scan, type SmallPlace, scanEntries } from './entry.ts';

const { O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
/** Read at a time when the file is looked through. */
const SCAN_BYTES = 1_048_576;
/** Room for a length beside where it begins, in one number: a file may have 2^37 bytes. */
const LENGTHS = 65_536;

/** Starts of a task that have a number: with an index below 10^9 exact in a double. */
const EPOCHS = 65_536;

export interface Extent {
  readonly from: number;
  /** 0: the output has a file of its own. */
  readonly length: number;
}

interface PendingWrite {
  readonly place: SmallPlace;
  readonly bytes: Uint8Array;
  readonly written: PromiseWithResolvers<number>;
}

/** A number for what is usual, which takes a third less memory than a text. */
type Key = number | string;

interface Content {
  /** Where the output of each lies, and its length, in one number. */
  readonly extents: Map<Key, number>;
  end: number;
}

export class Segment {
  readonly #file: string;
  readonly #log: Log;
  readonly #content: Promise<Content>;
  #waiting: PendingWrite[] = [];
  #isWriting = false;
  #isBroken = false;
  #size = 0;

  constructor(file: string, log: Log) {
    this.#file = file;
    this.#log = log;
    this.#content = this.#load();
    this.#content.catch(() => {
      this.#isBroken = true;
    });
  }

  /** Something is being written, so that the file must not be looked through by another. */
  get isBusy(): boolean {
    return this.#isWriting;
  }

  /** The file could not be looked through: who asks next has to try again. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Outputs that it knows. */
  get size(): number {
    return this.#size;
  }

  async find(place: SmallPlace): Promise<Extent | null> {
    const packed = (await this.#content).extents.get(keyOf(place));
    if (packed === undefined) return null;
    return { from: Math.floor(packed / LENGTHS), length: packed % LENGTHS };
  }

  async read({ from, length }: Extent): Promise<Uint8Array> {
    const handle = await openExisting(this.#file);
    if (handle === null) return new Uint8Array();
    try {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, from);
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  }

  /** Resolves, once it is on the disk, with how many bytes that took. */
  append(place: SmallPlace, bytes: Uint8Array): Promise<number> {
    const written = Promise.withResolvers<number>();
    this.#waiting.push({ place, bytes, written });
    if (!this.#isWriting) void this.#writeAll();
    return written.promise;
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      try {
        await this.#writeWaiting();
      } catch (error) {
        for (const { written } of this.#waiting.splice(0)) written.reject(error);
      }
    }
    this.#isWriting = false;
  }

  /** Opens the file once for all that comes until nothing waits any more. */
  async #writeWaiting(): Promise<void> {
    const handle = await openOrMake(this.#file);
    try {
      while (this.#waiting.length > 0) await this.#writeBatch(handle, this.#waiting.splice(0));
    } finally {
      await handle.close();
    }
  }

  async #writeBatch(handle: FileHandle, batch: readonly PendingWrite[]): Promise<void> {
    try {
      await this.#write(handle, batch);
    } catch (error) {
      for (const { written } of batch) written.reject(error);
    }
  }

  /** The end moves only when all of it is on the disk: what failed half-way is written over. */
  async #write(handle: FileHandle, batch: readonly PendingWrite[]): Promise<void> {
    const content = await this.#content;
    const pieces = batch.flatMap(({ place, bytes }) => [encodeHead(place, bytes), bytes]);
    await writeAt(handle, pieces, content.end);
    await handle.datasync();
    for (const [at, { place, bytes, written }] of batch.entries()) {
      const taken = (pieces[2 * at]?.length ?? 0) + bytes.length;
      content.end += taken;
      content.extents.set(keyOf(place), (content.end - bytes.length) * LENGTHS + bytes.length);
      written.resolve(taken);
    }
    this.#size = content.extents.size;
  }

  async #load(): Promise<Content> {
    const content = { extents: new Map<Key, number>(), end: 0 };
    const handle = await openExisting(this.#file);
    if (handle === null) return content;
    try {
      while (await this.#loadMore(handle, content));
      await this.#cut(content.end, (await handle.stat()).size);
    } finally {
      await handle.close();
    }
    this.#size = content.extents.size;
    return content;
  }

  /** Whether there may be more. */
  async #loadMore(handle: FileHandle, content: Content): Promise<boolean> {
    const buffer = Buffer.allocUnsafe(SCAN_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, SCAN_BYTES, content.end);
    const scan: Scan = scanEntries(buffer.subarray(0, bytesRead));
    for (const { place, from, length } of scan.found) {
      content.extents.set(keyOf(place), (content.end + from) * LENGTHS + length);
    }
    content.end += scan.next;
    return scan.next > 0 && !scan.isTorn;
  }

  /** What a kill left half written nobody was told is kept: its node sends it again. */
  async #cut(end: number, size: number): Promise<void> {
    if (size <= end) return;
    this.#log.warn({ file: this.#file, end, bytes: size - end }, 'cut off half-written output');
    const handle = await openOrMake(this.#file);
    try {
      await handle.truncate(end);
    } finally {
      await handle.close();
    }
  }
}

/** All pieces one after the other: a system call may take fewer than it was given. */
async function writeAt(
  handle: FileHandle,
  pieces: readonly Uint8Array[],
  from: number,
): Promise<void> {
  const size = pieces.reduce((sum, { length }) => sum + length, 0);
  const { bytesWritten } = await handle.writev(pieces, from);
  if (bytesWritten === size) return;
  const rest = Buffer.concat(pieces).subarray(bytesWritten);
  for (let done = 0; done < rest.length; ) {
    const at = from + bytesWritten + done;
    done += (await handle.write(rest, done, rest.length - done, at)).bytesWritten;
  }
}

async function openOrMake(file: string): Promise<FileHandle> {
  const flags = O_RDWR | O_CREAT | O_NOFOLLOW;
  try {
    return await open(file, flags, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    return open(file, flags, 0o600);
  }
}

function keyOf({ index, epoch, nodeRank, rank, stream }: SmallPlace): Key {
  const isUsual = nodeRank === 0 && rank === 0 && epoch < EPOCHS;
  if (isUsual) return (index * EPOCHS + epoch) * 2 + (stream === 'stdout' ? 0 : 1);
  return `${index}.${epoch}.${nodeRank}.${rank}.${stream}`;
}
