// A blob on its way to the head: what has come of it, and which piece may come next.

import { err, ok, type Result } from '../base/result.ts';
import { formatSize } from '../base/size.ts';
import type { BlobHash } from '../model/blob.ts';
import { type Refusal, refuse } from '../model/errors.ts';

/** One sender's. Two who send the same content have one each: none goes on with another's bytes. */
export interface Upload {
  readonly hash: BlobHash;
  /** Said by its sender. */
  readonly size: number;
  /** Bytes that are there; the next one belongs here. */
  readonly offset: number;
  /** When the last of them came. */
  readonly touchedAt: number;
}

/** What a sender wants to send: bytes from `offset` on, of a blob of so many. */
export interface Piece {
  readonly offset: number;
  readonly size: number;
}

/** From 0 an upload begins anew, whatever was there; else a piece goes on where the last ended. */
export function admitPiece(
  hash: BlobHash,
  before: Pick<Upload, 'size' | 'offset'> | null,
  { offset, size }: Piece,
): Result<null, Refusal> {
  if (offset > size) {
    const what = `a blob of ${size} bytes has none from ${offset} on`;
    return err(refuse('argument.invalid', { what }));
  }
  if (offset === 0) return ok(null);
  // Of another size it is another content, which cannot have this hash as well.
  const there = before?.size === size ? before.offset : 0;
  if (offset === there) return ok(null);
  return err(refuse('blob.offset', { hash, offset: String(there) }, `Go on from ${there}.`));
}

/** What a file system gives out at once. So many empty files are not free either. */
const BLOCK_BYTES = 4096;

/** What a blob of this size counts for. */
export function diskBytes(size: number): number {
  return Math.max(1, Math.ceil(size / BLOCK_BYTES)) * BLOCK_BYTES;
}

/** Where blobs lie: what they take up, and what there is. */
export interface Room {
  /** Held by all blobs and pieces that are there. */
  readonly bytesUsed: number;
  /** What uploads under way still have to bring. */
  readonly bytesPromised: number;
  /** The quota. */
  readonly bytesMax: number;
  /** Free on the disk, without what must stay free. */
  readonly diskFree: number;
}

/** Bytes that have to go before so many more fit; 0: they fit. */
export function bytesToFree(room: Room, bytes: number): number {
  const { bytesUsed, bytesPromised, bytesMax, diskFree } = room;
  const coming = bytesPromised + bytes;
  return Math.max(0, bytesUsed + coming - bytesMax, coming - diskFree);
}

/** Why so many more bytes do not fit; null: they do. */
export function refuseBytes(room: Room, bytes: number): Refusal | null {
  if (bytesToFree(room, bytes) === 0) return null;
  const size = formatSize(bytes);
  const { bytesUsed, bytesMax, bytesPromised } = room;
  if (bytesUsed + bytesPromised + bytes <= bytesMax) {
    return refuse('blob.disk_full', { cause: `no room for ${size} more` });
  }
  const limit = formatSize(bytesMax);
  const used = formatSize(bytesUsed + bytesPromised);
  const never = bytes > bytesMax ? 'It can never fit.' : 'Room comes as jobs that name files end.';
  return refuse('blob.quota', { size, limit, used }, never);
}
