// A file where somebody else may write, so that something else may lie in its place: a link to what
// only root reads, a pipe, or more than fits into memory.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** Null where it is a link. One of a pipe returns at once. */
export function openPlain(file: string): number | null {
  try {
    return openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (['ELOOP', 'ENXIO'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

/** Bytes of the file; null: no plain file, or more than so many. Throws as open(2) does. */
export function readPlain(file: string, bytesMax: number): Buffer | null {
  const opened = openPlain(file);
  if (opened === null) return null;
  try {
    const stats = fstatSync(opened);
    if (!stats.isFile() || stats.size > bytesMax) return null;
    const bytes = Buffer.alloc(stats.size);
    let end = 0;
    while (end < bytes.length) {
      const count = readSync(opened, bytes, end, bytes.length - end, end);
      if (count === 0) break;
      end += count;
    }
    return bytes.subarray(0, end);
  } finally {
    closeSync(opened);
  }
}
