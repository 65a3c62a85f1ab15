// Which blobs may go: none that is named or on its way, and none that was touched lately, as
// whoever asked for it may be about to name it. When room is short, what was touched longest ago
// goes first.

import type { BlobHash } from '../../model/blob.ts';

export interface StoredBlob {
  readonly hash: BlobHash;
  readonly size: number;
  /** When it came, or when somebody was last told that it is there. */
  readonly touchedAt: number;
}

/** What keeps a blob. */
export interface Keeping {
  isNamed(hash: BlobHash): boolean;
  /** Somebody sends this content. */
  isUploading(hash: BlobHash): boolean;
}

export interface GarbageRule {
  readonly now: number;
  /** Untouched for so long, it goes in any case. */
  readonly idleMs: number;
  /** Untouched for so long, it goes when room is short. */
  readonly idlePressedMs: number;
  /** Bytes that are missing. */
  readonly bytesToFree: number;
}

/** Whether it may go at all. Asked again right before it does: the world has gone on. */
export function mayGo(blob: StoredBlob, keeping: Keeping, rule: GarbageRule): boolean {
  const { now, idleMs, idlePressedMs, bytesToFree } = rule;
  if (keeping.isNamed(blob.hash) || keeping.isUploading(blob.hash)) return false;
  const least = bytesToFree > 0 ? Math.min(idleMs, idlePressedMs) : idleMs;
  // A clock that was set back makes everything young: kept too long rather than lost.
  return now - blob.touchedAt >= least;
}

/** What goes, longest untouched first: all that is idle, and then as much as is short. */
export function findGarbage(
  blobs: readonly StoredBlob[],
  keeping: Keeping,
  rule: GarbageRule,
): StoredBlob[] {
  const candidates = blobs
    .filter((blob) => mayGo(blob, keeping, rule))
    .sort((a, b) => a.touchedAt - b.touchedAt || (a.hash < b.hash ? -1 : 1));
  let freed = 0;
  return candidates.filter(({ size, touchedAt }) => {
    const goes = rule.now - touchedAt >= rule.idleMs || freed < rule.bytesToFree;
    if (goes) freed += size;
    return goes;
  });
}
