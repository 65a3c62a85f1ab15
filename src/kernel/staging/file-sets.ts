// The lists of files that jobs name: fetched once for all tasks of an array, and kept while its
// tasks come.

import { createHash } from 'node:crypto';
import { type FileSet, parseFileSet } from '../files/file-set.ts';
import type { BlobHash } from '../model/blob.ts';
import { Failure } from '../model/failure.ts';
import { FILE_SET_BYTES_MAX } from '../model/limits.ts';
import { untilStuck } from '../transfer/arriving.ts';
import type { HeadAccess } from '../transfer/head-access.ts';

/** Arrays that run beside each other; one list can have many megabytes. */
const KEPT_MAX = 8;

export class FileSets {
  readonly #kept = new Map<BlobHash, Promise<FileSet>>();

  /** Throws a failure when the head does not give it, or it is none. */
  async get(hash: BlobHash, access: HeadAccess): Promise<FileSet> {
    const kept = this.#kept.get(hash);
    if (kept !== undefined) {
      this.#kept.delete(hash);
      this.#kept.set(hash, kept);
      // In the name of another task, which may have ended meanwhile.
      const set = await kept.catch(() => null);
      if (set !== null) return set;
    }
    const fetched = fetchSet(hash, access);
    this.#kept.set(hash, fetched);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_MAX) break;
      this.#kept.delete(oldest);
    }
    try {
      return await fetched;
    } catch (error) {
      if (this.#kept.get(hash) === fetched) this.#kept.delete(hash);
      throw error;
    }
  }
}

async function fetchSet(hash: BlobHash, access: HeadAccess): Promise<FileSet> {
  const bytes = await access.patiently('Trying again.', () => fetchWhole(hash, access));
  const parsed = parseFileSet(bytes.toString());
  if (!parsed.ok) throw damaged(hash, parsed.error);
  return parsed.value;
}

async function fetchWhole(hash: BlobHash, access: HeadAccess): Promise<Buffer> {
  const head = await access.head();
  const answer = await head.stream('readBlob', { params: { hash } });
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of untilStuck(answer, head.address)) {
    pieces.push(piece);
    length += piece.length;
    if (length > FILE_SET_BYTES_MAX) throw damaged(hash, 'the list of files is too long');
  }
  const bytes = Buffer.concat(pieces);
  if (createHash('sha256').update(bytes).digest('hex') === hash) return bytes;
  throw damaged(hash, 'the list of files is not what was sent');
}

function damaged(hash: BlobHash, message: string): Failure {
  return new Failure({ code: 'blob.damaged', kind: 'internal', message: `${message} (${hash})` });
}
