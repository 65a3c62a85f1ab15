// The contents that are there, whole and verified, and who holds them. What has to be seen by nobody
// half done is done in one turn of the event loop.

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
import { err, ok, type Result } from '../../core/base/result.ts';
import { diskBytes } from '../../core/blobs/upload.ts';
import type { BlobHash } from '../../core/model/blob.ts';
import { type Refusal, refuse } from '../../core/model/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { BlobPlaces } from './blob-places.ts';
import { absent, codeOf } from './disk-errors.ts';

/** Touched again only after so long: far below what a sweep spares, and most questions write nothing. */
const TOUCH_MS = 600_000;

/** A blob to read from. It stays readable until it is closed, whatever is swept. */
export interface OpenBlob {
  readonly file: FileHandle;
  readonly size: number;
}

/** A content of somebody, in a file of its own that is synced and verified. */
export interface Arrived {
  readonly user: string;
  readonly hash: BlobHash;
  readonly size: number;
  readonly path: string;
}

export class Contents {
  readonly #places: BlobPlaces;
  readonly #clock: Clock;
  readonly #added: (bytes: number) => void;
  /** Folders that are there: at most 256, and as many for each user. */
  readonly #folders = new Set<string>();

  /** `added`: told what a new content takes up. */
  constructor(places: BlobPlaces, clock: Clock, added: (bytes: number) => void) {
    this.#places = places;
    this.#clock = clock;
    this.#added = added;
  }

  /** Whether the user has sent it. */
  isHeld(user: string, hash: BlobHash): boolean {
    return existsSync(this.#places.held(user, hash));
  }

  /** Its size, and it is spared by sweeps for an hour; null when it is not there. */
  touch(hash: BlobHash): number | null {
    const content = this.#places.content(hash);
    const status = statSync(content, { throwIfNoEntry: false });
    if (status === undefined) return null;
    const now = this.#clock.now();
    if (now - status.mtimeMs > TOUCH_MS) utimesSync(content, now / 1000, now / 1000);
    return status.size;
  }

  /** Null when it is not there. At once: for small ones a pool of threads would take longer. */
  readSmall(hash: BlobHash): Uint8Array | null {
    try {
      return readFileSync(this.#places.content(hash));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    }
  }

  async open(hash: BlobHash): Promise<Result<OpenBlob, Refusal>> {
    const file = await open(this.#places.content(hash), 'r').catch(absent(null));
    if (file === null) return err(refuse('blob.not_found', { hash }));
    return ok({ file, size: (await file.stat()).size });
  }

  /** Gives a content one more name elsewhere on the disk; while that is there, the content stays. */
  async linkTo(hash: BlobHash, to: string): Promise<void> {
    const content = this.#places.content(hash);
    try {
      linkSync(content, to);
    } catch (error) {
      if (codeOf(error) !== 'EMLINK') throw error;
      await this.#renew(hash);
      linkSync(content, to);
    }
  }

  /** Its file has as many names as a file may have: an equal one takes its place. */
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

  /** It becomes a blob that its sender holds; equal content that is there stays. */
  keep({ user, hash, size, path: from }: Arrived): void {
    const content = this.#places.content(hash);
    if (this.touch(hash) === null) {
      const now = this.#clock.now() / 1000;
      utimesSync(from, now, now);
      renameSync(from, content);
      this.#added(diskBytes(size));
    } else {
      unlinkSync(from);
    }
    linkUnlessThere(content, this.#places.held(user, hash));
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

  /** A content that is there gets one more holder, who has just shown to have it. False: it is not. */
  hold(user: string, hash: BlobHash): boolean {
    if (this.touch(hash) === null) return false;
    this.makeFolders(user, hash);
    linkUnlessThere(this.#places.content(hash), this.#places.held(user, hash));
    return true;
  }

  /** A new name in a folder is on the disk only when the folder is. */
  foldersOf(hashes: readonly BlobHash[]): string[] {
    return [...new Set(hashes.map((hash) => path.dirname(this.#places.content(hash))))];
  }
}

function linkUnlessThere(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}
