// Which version of a file had the bytes that its hash says: a file that is still that version needs
// no second look.

import type { BlobHash } from '../model/blob.ts';

/** What a system says of a file, in numbers that lose nothing. */
export interface FileStatus {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** Files that are remembered; others are hashed again. */
const REMEMBERED_MAX = 10_000;

/** ctime cannot be set back, unlike mtime. */
export function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: FileStatus): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join('-');
}

export class VerifiedFiles {
  readonly #versions = new Map<BlobHash, string>();

  note(hash: BlobHash, version: string): void {
    this.#versions.delete(hash);
    this.#versions.set(hash, version);
    const [oldest] = this.#versions.keys();
    if (this.#versions.size > REMEMBERED_MAX && oldest !== undefined) this.#versions.delete(oldest);
  }

  has(hash: BlobHash, version: string): boolean {
    return this.#versions.get(hash) === version;
  }
}
