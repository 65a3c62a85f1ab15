// Small contents of a node's cache, many in one file: a file for each would be made, and removed,
// for every task that needs it. What is read is verified each time.

import { hash as hashAtOnce } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  futimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { frameHeader, frameLength } from '../api/blob-frames.ts';
import type { BlobHash } from '../model/blob.ts';
import { BLOB_PACKED_BYTES_MAX } from '../model/limits.ts';
import type { Clock } from '../ports/clock.ts';

export interface SmallCacheOptions {
  /** Made when it is not there. */
  readonly directory: string;
  /** The quota; packs of what tasks are about to use are kept beyond it. */
  readonly bytesMax: number;
  readonly clock: Clock;
}

interface Pack {
  readonly file: string;
  readonly fd: number;
  bytes: number;
  usedAt: number;
  /** How many of its contents tasks are about to use. */
  users: number;
  readonly hashes: BlobHash[];
}

interface Place {
  readonly pack: Pack;
  readonly at: number;
  readonly size: number;
}

/** A pack goes as a whole, so it is a small part of the quota. */
const PACK_BYTES_MAX = 16 * 1_048_576;
const PACKS = 8;
/** Beyond it packs are too many to have open; large contents have the rest. */
const BYTES_MAX = 2048 * 1_048_576;
/** A use is noted on the disk only when the last was so long ago. */
const NOTED_MS = 600_000;
const HASH_BYTES = 32;
const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;

export class SmallCache {
  readonly #directory: string;
  readonly #bytesMax: number;
  readonly #clock: Clock;
  readonly #places = new Map<BlobHash, Place>();
  readonly #wanted = new Map<BlobHash, number>();
  /** The oldest first; the last one grows. */
  #packs: Pack[] = [];
  #grows: Pack | null = null;
  #next = 1;

  constructor({ directory, bytesMax, clock }: SmallCacheOptions) {
    this.#directory = directory;
    this.#bytesMax = Math.min(bytesMax, BYTES_MAX);
    this.#clock = clock;
  }

  get bytes(): number {
    return this.#packs.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** What an earlier agent has left. */
  load(): void {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const numbers = readdirSync(this.#directory).filter((name) => /^\d{1,15}$/.test(name));
    for (const number of numbers.map(Number).sort((a, b) => a - b)) {
      this.#next = number + 1;
      this.#loadPack(this.#open(number));
    }
    this.#packs.sort((a, b) => a.usedAt - b.usedAt);
  }

  has(hash: BlobHash): boolean {
    return this.#places.has(hash);
  }

  /** Those stay, also what is still to come, until the answer is called. */
  hold(hashes: readonly BlobHash[]): () => void {
    for (const hash of hashes) this.#count(hash, 1);
    return () => {
      for (const hash of hashes) this.#count(hash, -1);
      this.makeRoom(this.#bytesMax);
    };
  }

  add(hash: BlobHash, bytes: Uint8Array): void {
    if (this.has(hash)) return;
    const pack = this.#growing(frameLength(bytes.length));
    const frame = Buffer.concat([frameHeader(hash, bytes.length), bytes]);
    try {
      for (let done = 0; done < frame.length; ) {
        done += writeSync(pack.fd, frame, done, frame.length - done, pack.bytes + done);
      }
    } catch (error) {
      // A full disk: what is there of it would hide all that follows.
      ftruncateSync(pack.fd, pack.bytes);
      throw error;
    }
    this.#put(pack, hash, bytes.length);
  }

  /** Null when it is not there, or damaged: then all that lies beside it is forgotten, too. */
  read(hash: BlobHash): Uint8Array | null {
    const place = this.#places.get(hash);
    if (place === undefined) return null;
    const { pack, at, size } = place;
    const bytes = readAt(pack.fd, at, size);
    if (bytes !== null && hashAtOnce('sha256', bytes, 'hex') === hash) return bytes;
    this.#remove(pack);
    return null;
  }

  /** Packs go, those that were used longest ago first, until no more is there. */
  makeRoom(bytesMax: number): void {
    let left = this.bytes;
    const idle = this.#packs.filter(({ users }) => users === 0);
    for (const pack of idle.sort((a, b) => a.usedAt - b.usedAt)) {
      if (left <= bytesMax) return;
      left -= pack.bytes;
      this.#remove(pack);
    }
  }

  /** The quota; less where a disk has less. */
  get bytesMax(): number {
    return this.#bytesMax;
  }

  #count(hash: BlobHash, more: number): void {
    const wanted = (this.#wanted.get(hash) ?? 0) + more;
    if (wanted > 0) this.#wanted.set(hash, wanted);
    else this.#wanted.delete(hash);
    const pack = this.#places.get(hash)?.pack;
    if (pack === undefined) return;
    pack.users += more;
    this.#note(pack);
  }

  #note(pack: Pack): void {
    const now = this.#clock.now();
    if (now - pack.usedAt < NOTED_MS) return;
    pack.usedAt = now;
    // For the next agent, which knows nothing else of it.
    futimesSync(pack.fd, now / 1000, now / 1000);
  }

  #growing(more: number): Pack {
    const pack = this.#grows;
    const packBytes = Math.min(PACK_BYTES_MAX, this.#bytesMax / PACKS);
    if (pack !== null && pack.bytes + more <= packBytes) return pack;
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const grown = this.#open(this.#next);
    this.#next += 1;
    this.#packs.push(grown);
    this.#grows = grown;
    return grown;
  }

  #open(number: number): Pack {
    const file = path.join(this.#directory, String(number));
    const fd = openSync(file, FLAGS, 0o600);
    const usedAt = this.#clock.now();
    return { file, fd, bytes: 0, usedAt, users: 0, hashes: [] };
  }

  /** Reads as far as there are frames: an agent that was killed may have left a part of one. */
  #loadPack(pack: Pack): void {
    const { size: end, mtimeMs } = fstatSync(pack.fd);
    this.#packs.push(pack);
    while (pack.bytes < end) {
      const header = readAt(pack.fd, pack.bytes, frameLength(0));
      const size = header === null ? Number.POSITIVE_INFINITY : sizeIn(header);
      if (size > BLOB_PACKED_BYTES_MAX || pack.bytes + frameLength(size) > end) break;
      const hash = Buffer.from(header?.subarray(0, HASH_BYTES) ?? []).toString('hex');
      this.#put(pack, hash as BlobHash, size);
    }
    pack.usedAt = mtimeMs;
    if (pack.bytes === 0) this.#remove(pack);
  }

  #put(pack: Pack, hash: BlobHash, size: number): void {
    const at = pack.bytes + frameLength(0);
    pack.bytes += frameLength(size);
    // The latest counts: it was fetched as another one was found damaged.
    this.#places.set(hash, { pack, at, size });
    pack.hashes.push(hash);
    pack.users += this.#wanted.get(hash) ?? 0;
  }

  #remove(pack: Pack): void {
    this.#packs = this.#packs.filter((one) => one !== pack);
    if (this.#grows === pack) this.#grows = null;
    for (const hash of pack.hashes) {
      if (this.#places.get(hash)?.pack === pack) this.#places.delete(hash);
    }
    closeSync(pack.fd);
    rmSync(pack.file, { force: true });
  }
}

function sizeIn(header: Buffer): number {
  return Number(header.readBigUInt64BE(HASH_BYTES));
}

/** Null when the file is shorter. */
function readAt(fd: number, at: number, length: number): Buffer | null {
  const bytes = Buffer.allocUnsafe(length);
  for (let done = 0; done < length; ) {
    const count = readSync(fd, bytes, done, length - done, at + done);
    if (count === 0) return null;
    done += count;
  }
  return bytes;
}
