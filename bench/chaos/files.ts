// The file of a work: made of its key, so that every copy of it can be told from all others.

import { createHash } from 'node:crypto';
import { formatFileSet } from '../../src/kernel/files/file-set.ts';
import type { BlobHash } from '../../src/kernel/model/blob.ts';

interface Content {
  readonly hash: BlobHash;
  readonly bytes: Uint8Array;
}

export interface FileOfWork {
  readonly hash: BlobHash;
  /** Hash of the list of files, which is a content itself. */
  readonly list: BlobHash;
  /** All that the head has to have. */
  readonly contents: readonly Content[];
}

export function fileOf(key: string, size: number): FileOfWork {
  const file = contentOf(Buffer.alloc(size, `${key} `));
  const entry = { path: 'file', kind: 'file', size, mode: 0o644, sha256: file.hash } as const;
  const list = contentOf(Buffer.from(formatFileSet({ version: 1, common: [entry] })));
  return { hash: file.hash, list: list.hash, contents: [file, list] };
}

function contentOf(bytes: Uint8Array): Content {
  return { hash: createHash('sha256').update(bytes).digest('hex') as BlobHash, bytes };
}
