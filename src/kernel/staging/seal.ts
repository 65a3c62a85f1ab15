// How a file of the cache is known to be as it was when it was verified: by a time of change that
// nobody else gives it. It holds for one boot, as what a machine wrote last before it stopped may
// not be on its disk.

import { createHash } from 'node:crypto';
import type { BlobHash } from '../model/blob.ts';

/** Seconds that fit into any file system's times. */
const SECONDS_MAX = 2 ** 31;

/** In seconds since 1970. */
export function sealOf(hash: BlobHash, bootId: string): number {
  const digest = createHash('sha256').update(`${bootId} ${hash}`).digest();
  return digest.readUInt32BE(0) % SECONDS_MAX;
}
