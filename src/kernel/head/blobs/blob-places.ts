// Where blobs lie below the head's state directory:
//   packs/N                  small contents, many in each (head/packs)
//   sha256/ab/cdef…          another content, whole and verified
//   held/USER/ab/cdef…       the same file once more, for each user who has sent it
//   incoming/HASH.SIZE.USER  what has come so far of an upload
//   trash/…                  on its way out

import { renameSync } from 'node:fs';
import path from 'node:path';
import type { BlobHash } from '../../model/blob.ts';

const INCOMING = /^([0-9a-f]{64})\.(\d{1,16})\.(.+)$/;

export class BlobPlaces {
  readonly root: string;
  #discarded = 0;
  #written = 0;

  constructor(root: string) {
    this.root = root;
  }

  get contents(): string {
    return path.join(this.root, 'sha256');
  }

  get packs(): string {
    return path.join(this.root, 'packs');
  }

  get holders(): string {
    return path.join(this.root, 'held');
  }

  get uploads(): string {
    return path.join(this.root, 'incoming');
  }

  get trash(): string {
    return path.join(this.root, 'trash');
  }

  content(hash: BlobHash): string {
    return path.join(this.contents, hash.slice(0, 2), hash.slice(2));
  }

  /** Login names have no slash and begin with a letter (api/common.ts), so they are safe names. */
  held(user: string, hash: BlobHash): string {
    return path.join(this.holders, user, hash.slice(0, 2), hash.slice(2));
  }

  /** For a content that is written in one go; what is left of it goes at the next start. */
  aside(): string {
    this.#written += 1;
    return path.join(this.uploads, `new.${this.#written}`);
  }

  /**
   * Moves a file out of everybody's reach at once, and says where it is now: to take its room away
   * can last, and a new one of its name may come meanwhile.
   */
  discard(file: string): string {
    this.#discarded += 1;
    const to = path.join(this.trash, String(this.#discarded));
    renameSync(file, to);
    return to;
  }

  incoming({ hash, size, user }: UploadName): string {
    return path.join(this.uploads, `${hash}.${size}.${user}`);
  }
}

export interface UploadName {
  readonly hash: BlobHash;
  readonly size: number;
  readonly user: string;
}

/** Null for what no upload has made. */
export function readUploadName(file: string): UploadName | null {
  const [, hash, size, user] = INCOMING.exec(file) ?? [];
  if (hash === undefined || user === undefined) return null;
  return { hash: hash as BlobHash, size: Number(size), user };
}
