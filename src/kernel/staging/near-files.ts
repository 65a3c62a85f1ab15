// Contents that lie on this machine already: with the head itself, which says in which files. They
// are copied from there to their tasks, so that no byte goes through a socket and none into the
// cache.

import { type BigIntStats, constants } from 'node:fs';
import { copyFile, open, stat } from 'node:fs/promises';
import type { ReplyOf } from '../api/routes.ts';
import { VerifiedFiles, versionOf } from '../files/verified.ts';
import type { BlobHash } from '../model/blob.ts';
import { refuse } from '../model/errors.ts';
import { Failure, failure } from '../model/failure.ts';
import { BLOB_PACKED_BYTES_MAX, BLOBS_ASKED_MAX } from '../model/limits.ts';
import type { HeadAccess } from '../transfer/head-access.ts';
import { hashOpen } from '../transfer/local-file.ts';
import type { Content } from './node-cache.ts';

/** A file of the head's, which nobody here changes. */
type NearFile = ReplyOf<'blobFiles'>['files'][number];

/** Copies a content to a file that is not there yet; throws `NotHere`. */
export type CopyTo = (to: string) => Promise<void>;

export type NearContents = ReadonlyMap<BlobHash, CopyTo>;

/** A file is not there any more, or is another one: its content has to come another way. */
export class NotHere extends Error {}

/** A clone where the file system has them. */
const COPY = constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL;

export class NearFiles {
  readonly #verified = new VerifiedFiles();

  /** Those that can be copied; what the head does not say is fetched from it. */
  async find(access: HeadAccess, contents: readonly Content[]): Promise<NearContents> {
    const found = new Map<BlobHash, CopyTo>();
    const head = await access.head();
    // Small ones come together, which is faster than asking where they lie.
    const large = contents.filter(({ size }) => size > BLOB_PACKED_BYTES_MAX);
    const hashes = [...new Set(large.map(({ hash }) => hash))];
    for (let at = 0; at < hashes.length; at += BLOBS_ASKED_MAX) {
      const body = { hashes: hashes.slice(at, at + BLOBS_ASKED_MAX) };
      // A head of an older release knows no such question, and one that is away is asked again for
      // all.
      const { files } = await head.call('blobFiles', { body }).catch(noneAfterFailure);
      for (const file of files) found.set(file.hash as BlobHash, (to) => this.#copy(file, to));
    }
    return found;
  }

  /**
   * Verifies what it has copied, once for as long as the head's file stays as it is. Where the head
   * has hashed that very file as it came, this machine has done so already.
   */
  async #copy(from: NearFile, to: string): Promise<void> {
    const hash = from.hash as BlobHash;
    const version = await identify(from);
    await copyFile(from.path, to, COPY).catch(notNearIfGone);
    if (from.verified === version || this.#verified.has(hash, version)) {
      if ((await identify(from)) === version) return;
      throw new NotHere(from.path);
    }
    await using copied = await open(to, 'r');
    if ((await hashOpen(copied.fd, (await copied.stat()).size)) !== hash) {
      throw failure(refuse('blob.damaged', { hash, path: from.path }));
    }
    this.#verified.note(hash, version);
  }
}

/** Another version with each write. A copy of it was verified: so is this version. */
async function identify({ path, dev, ino }: NearFile): Promise<string> {
  const status = await stat(path, { bigint: true }).catch(notNearIfGone);
  if (!isSame(status, { dev, ino })) throw new NotHere(path);
  return versionOf(status);
}

/** A path says nothing: the socket may lead to a head elsewhere, with files of the same names. */
function isSame(status: BigIntStats, { dev, ino }: Pick<NearFile, 'dev' | 'ino'>): boolean {
  // What another user may change is not trusted either.
  const isOwn = status.uid === BigInt(process.getuid?.() ?? -1);
  return isOwn && status.isFile() && String(status.dev) === dev && String(status.ino) === ino;
}

function noneAfterFailure(error: unknown): ReplyOf<'blobFiles'> {
  if (!(error instanceof Failure)) throw error;
  return { files: [] };
}

function notNearIfGone(error: NodeJS.ErrnoException): never {
  if (error.code === 'ENOENT' || error.code === 'EACCES') throw new NotHere(error.message);
  throw error;
}
