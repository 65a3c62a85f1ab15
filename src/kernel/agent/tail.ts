// The end of an output file that is longer than the head keeps: it says how the program ended.

import type { Files } from '../ports/files.ts';

/** Thousands of lines, and small enough to travel with the word that the file is complete. */
const TAIL_BYTES_MAX = 256 * 1024;

/** How much of the end is kept beside a beginning of `limit` bytes. */
export function tailBytesOf(limit: number): number {
  return Math.min(TAIL_BYTES_MAX, Math.floor(limit / 4));
}

export interface Measured {
  readonly path: string;
  readonly uid: number | null;
  readonly size: number;
  /** What the head keeps of the beginning. */
  readonly limit: number;
}

/** Empty for a file that is no longer than the limit. */
export function readTail(files: Files, { path, uid, size, limit }: Measured): Uint8Array {
  const from = Math.max(limit, size - tailBytesOf(limit));
  return size > from ? files.read(path, uid, from, size - from) : new Uint8Array(0);
}
