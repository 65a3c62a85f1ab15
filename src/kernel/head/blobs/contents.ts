// The contents that are there, whole and verified, and who holds them. What has to be seen by
// nobody half done is done in one turn of the event loop.

import { hash as hashOf } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { copyFile, type FileHandle, open, rename } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { err, ok, type Result } from '../../base/result.ts';
import { diskBytes } from '../../files/blobs/upload.ts';
import { VerifiedFiles, versionOf } from '../../files/verified.ts';
import type { BlobHash } from '../../model/blob.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import { absent, codeOf } from '../disk/disk-errors.ts';
import type { SmallContent } from '../packs/pack-format.ts';
import type { Packs } from '../packs/packs.ts';
import type { BlobPlaces } from './blob-places.ts';
import type { Holdings } from './holdings.ts';

/** Touched again only after so long: far below what a sweep spares; most looks write nothing. */
const TOUCH_MS = 600_000;
/** Read at a time. */
const CHUNK_BYTES = 1_048_576;

/** A blob to read from. It stays readable until it is closed, whatever is swept. */
export interface OpenBlob {
  readonly size: number;
  readAll(): Promise<Buffer>;
  /** The bytes from one place up to before another. */
  stream(from: number, end: number): Readable;
  close(): Promise<void>;
}

/** The file of a content: its path, and by which number its device knows it. */
export interface BlobFile {
  readonly hash: BlobHash;
  readonly path: string;
  readonly dev: string;
  readonly ino: string;
  /** Absent: nobody has hashed it as it is. */
  readonly verified?: string;
}

/** A content of somebody, in a file of its own that is synced and verified. */
export interface Arrived {
  readonly user: string;
  readonly hash: BlobHash;
  readonly size: number;
  readonly path: string;
}

export interface ContentsParts {
  readonly places: BlobPlaces;
  readonly packs: Packs;
  readonly clock: Clock;
  /** Told what a new content takes up. */
  readonly added: (bytes: number) => void;
  readonly holdings: Holdings;
}

export class Contents {
  readonly #places: BlobPlaces;
  readonly #clock: Clock;
  readonly #added: (bytes: number) => void;
  readonly #holdings: Holdings;
  /** Small contents; a later one of the same hash may be a file. */
  readonly #packs: Packs;
  /** Folders that are there: at most 256, and as many for each user. */
  readonly #folders = new Set<string>();
  /** Files as they were once all their bytes had passed through this head. */
  readonly #verified = new VerifiedFiles();

  constructor({ places, packs, clock, added, holdings }: ContentsParts) {
    this.#places = places;
    this.#packs = packs;
    this.#clock = clock;
    this.#added = added;
    this.#holdings = holdings;
  }

  /** Whether the user has sent it. */
  isHeld(user: string, hash: BlobHash): boolean {
    return this.#packs.isHeld(user, hash) || existsSync(this.#places.held(user, hash));
  }

  /** The size of a blob, which sweeps then spare for an hour; null when it is not there. */
  touch(hash: BlobHash): number | null {
    return this.#packs.touch(hash) ?? this.#touchFile(hash);
  }

  #touchFile(hash: BlobHash): number | null {
    const content = this.#places.content(hash);
    const status = statSync(content, { throwIfNoEntry: false });
    if (status === undefined) return null;
    const now = this.#clock.now();
    if (now - status.mtimeMs > TOUCH_MS) utimesSync(content, now / 1000, now / 1000);
    return status.size;
  }

  /** Null when it is not there. At once: for small ones a pool of threads would take longer. */
  readSmall(hash: BlobHash): Uint8Array | null {
    const packed = this.#packs.read(hash);
    if (packed !== null) return packed;
    try {
      return readFileSync(this.#places.content(hash));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    }
  }

  /** Null for what is in no file of its own. Sweeps spare it for an hour. */
  fileOf(hash: BlobHash): BlobFile | null {
    if (this.#packs.touch(hash) !== null || this.#touchFile(hash) === null) return null;
    const file = this.#places.content(hash);
    const status = statSync(file, { bigint: true });
    const known = { hash, path: file, dev: String(status.dev), ino: String(status.ino) };
    const version = versionOf(status);
    return this.#verified.has(hash, version) ? { ...known, verified: version } : known;
  }

  async open(hash: BlobHash): Promise<Result<OpenBlob, Refusal>> {
    const packed = this.#packs.read(hash);
    if (packed !== null) return ok(openBytes(packed));
    const file = await open(this.#places.content(hash), 'r').catch(absent(null));
    if (file === null) return err(refuse('blob.not_found', { hash }));
    return ok(openFile(file, (await file.stat()).size));
  }

  /**
   * Gives a content one more name elsewhere on the disk; while that is there, the content stays.
   * One that was in no file is in this one now: true, and the caller gets it to the disk before it
   * is adopted.
   */
  async linkTo(hash: BlobHash, to: string): Promise<boolean> {
    const content = this.#places.content(hash);
    try {
      linkSync(content, to);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return this.#unpack(hash, to, error);
      if (codeOf(error) !== 'EMLINK') throw error;
      await this.#renew(hash);
      linkSync(content, to);
    }
    return false;
  }

  #unpack(hash: BlobHash, to: string, error: unknown): true {
    const bytes = this.#packs.read(hash);
    if (bytes === null) throw error;
    if (hashOf('sha256', bytes, 'hex') !== hash) throw new Error(`${hash} is damaged on the disk`);
    writeFileSync(to, bytes, { flag: 'wx', mode: 0o600 });
    return true;
  }

  /**
   * A file that `linkTo` has made, and that is on the disk, becomes the content's own. Gives the
   * folders that have to get there, too, before the caller lets go of the content.
   */
  adopt(hash: BlobHash, from: string): string[] {
    const content = this.#places.content(hash);
    const users = this.#packs.holdersOf(hash);
    for (const user of users) this.makeFolders(user, hash);
    if (!linkedUnlessThere(from, content)) {
      // Another task has left the same: its file is the content's, and stays for this one as well.
      unlinkSync(from);
      linkSync(content, from);
    }
    const held = users.map((user) => this.#places.held(user, hash));
    for (const one of held) linkedUnlessThere(content, one);
    return [content, ...held].map((file) => path.dirname(file));
  }

  /** Puts a copy in place of a file that has as many names as a file may have. */
  async #renew(hash: BlobHash): Promise<void> {
    const content = this.#places.content(hash);
    const aside = this.#places.aside();
    await copyFile(content, aside);
    const file = await open(aside, 'r+');
    await file.sync().finally(() => file.close());
    await rename(aside, content);
  }

  /** To be called before `keep`, which does all of its work at once. */
  makeFolders(user: string, hash: BlobHash): void {
    for (const file of [this.#places.content(hash), this.#places.held(user, hash)]) {
      const folder = path.dirname(file);
      if (this.#folders.has(folder)) continue;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      this.#folders.add(folder);
    }
  }

  /** Makes an arrived file a blob that its sender holds; equal content that is there stays. */
  keep({ user, hash, size, path: from }: Arrived): void {
    const content = this.#places.content(hash);
    const isNew = this.#touchFile(hash) === null;
    if (isNew) {
      const now = this.#clock.now() / 1000;
      utimesSync(from, now, now);
      renameSync(from, content);
      this.#added(diskBytes(size));
    } else {
      unlinkSync(from);
    }
    this.#noteHolder(user, hash, size);
    // Its second name has changed its version.
    if (isNew) this.#verified.note(hash, versionOf(statSync(content, { bigint: true })));
  }

  /** The content is a file. */
  #noteHolder(user: string, hash: BlobHash, size: number): void {
    const isNew = linkedUnlessThere(this.#places.content(hash), this.#places.held(user, hash));
    if (isNew && !this.#packs.isHeld(user, hash)) this.#holdings.add(user, diskBytes(size));
  }

  /** Whether it goes into a pack with others. */
  isPacked(bytes: Uint8Array): boolean {
    return this.#packs.takes(bytes.length);
  }

  /** Small contents of one user, which are on the disk, and here, when it resolves. */
  async pack(user: string, contents: readonly SmallContent[]): Promise<void> {
    if (contents.length === 0) return;
    const fresh = contents.filter(({ hash }) => !this.isHeld(user, hash));
    const sizes = await this.#packs.append(user, contents);
    for (const { bytes } of fresh) this.#holdings.add(user, diskBytes(bytes.length));
    this.#added(sizes.reduce((sum, size) => sum + diskBytes(size), 0));
  }

  /** Writes a small content aside. The caller gets it to the disk, and then has it kept. */
  write(user: string, hash: BlobHash, bytes: Uint8Array): Arrived {
    this.makeFolders(user, hash);
    const file = this.#places.aside();
    try {
      // At once: handing it to a pool of threads would take longer.
      writeFileSync(file, bytes, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      rmSync(file, { force: true });
      throw error;
    }
    return { user, hash, size: bytes.length, path: file };
  }

  /**
   * A content that is there gets one more holder, who has just shown to have it. False: it is not,
   * or its pack has to say it.
   */
  hold(user: string, hash: BlobHash): boolean {
    if (this.#packs.touch(hash) !== null) return this.#packs.isHeld(user, hash);
    const size = this.#touchFile(hash);
    if (size === null) return false;
    this.makeFolders(user, hash);
    this.#noteHolder(user, hash, size);
    return true;
  }

  /** A new name in a folder is on the disk only when the folder is. */
  foldersOf(hashes: readonly BlobHash[]): string[] {
    return [...new Set(hashes.map((hash) => path.dirname(this.#places.content(hash))))];
  }
}

/** False: something has that name. */
function linkedUnlessThere(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return false;
  }
}

function openBytes(bytes: Buffer): OpenBlob {
  return {
    size: bytes.length,
    readAll: () => Promise.resolve(bytes),
    stream: (from, end) => Readable.from([bytes.subarray(from, end)]),
    close: () => Promise.resolve(),
  };
}

function openFile(file: FileHandle, size: number): OpenBlob {
  return {
    size,
    readAll: () => file.readFile(),
    stream: (from, end) => {
      const options = { start: from, end: end - 1, highWaterMark: CHUNK_BYTES, autoClose: false };
      return file.createReadStream(options);
    },
    close: () => file.close(),
  };
}
