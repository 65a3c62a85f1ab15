// A node's cache of contents: which of them go when they take up more than they may. What is in use
// never does, and what was used longest ago goes first.

import type { BlobHash } from '../../model/blob.ts';
import { diskBytes } from './upload.ts';

export interface CachedBlob {
  readonly hash: BlobHash;
  readonly size: number;
  /** When a task last had it laid out, ms since 1970. */
  readonly usedAt: number;
  /** Tasks that are about to have it laid out. */
  readonly users: number;
}

/** What goes so that the rest fits into `bytesMax`; all that may go if that is too little. */
export function findUnneeded(cached: Iterable<CachedBlob>, bytesMax: number): CachedBlob[] {
  const all = [...cached];
  let short = -bytesMax;
  for (const { size } of all) short += diskBytes(size);
  if (short <= 0) return [];
  const idle = all
    .filter(({ users }) => users === 0)
    .sort((a, b) => a.usedAt - b.usedAt || (a.hash < b.hash ? -1 : 1));
  return idle.filter(({ size }) => {
    const goes = short > 0;
    if (goes) short -= diskBytes(size);
    return goes;
  });
}
