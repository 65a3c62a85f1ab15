// A blob on its way to the head: what has come of it, and which piece may come next.

import { err, ok, type Result } from '../../base/result.ts';
import { quoteWord } from '../../base/shell-word.ts';
import { formatSize } from '../../base/size.ts';
import type { BlobHash } from '../../model/blob.ts';
import { type Refusal, refuse } from '../../model/errors.ts';

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

/**
 * Where blobs lie: what they take up, and what there is. What is only announced takes up nothing:
 * else one slow connection would keep the whole room from everybody.
 */
export interface Room {
  /** Held by all blobs and pieces that are there. */
  readonly bytesUsed: number;
  /** The quota. */
  readonly bytesMax: number;
  /** Free on the disk, without what must stay free. */
  readonly diskFree: number;
  /** What whoever needs room has of it, and may have. */
  readonly user: UserRoom;
}

export interface UserRoom {
  readonly name: string;
  readonly bytesUsed: number;
  readonly bytesMax: number;
}

/** Bytes that have to go before so many more fit; 0: they fit. */
export function bytesToFree(room: Room, bytes: number): number {
  const { bytesUsed, bytesMax, diskFree } = room;
  return Math.max(ownToFree(room, bytes), bytesUsed + bytes - bytesMax, bytes - diskFree);
}

/** Bytes of the user's own that have to go. */
export function ownToFree({ user }: Room, bytes: number): number {
  return Math.max(0, user.bytesUsed + bytes - user.bytesMax);
}

/** An upload under way: what it is to become, and what has come of it. */
export interface Incoming {
  readonly size: number;
  /** Bytes that have room. */
  readonly taken: number;
}

/**
 * For how many bytes room is made when so many have come and have none: to look for it is much
 * work, so for as many again as are there, and never for more than has been brought that way.
 */
export function roomAhead({ size, taken }: Incoming, bytes: number): number {
  return Math.max(bytes, Math.min(size - taken, taken));
}

/** What nothing needs goes by itself, and is gone when this is told. */
const WAIT = 'Wait until jobs that name files end';
const ASK = 'ask an admin to raise head.blobs_max';

/** Why so many more bytes do not fit; null: they do. */
export function refuseBytes(room: Room, bytes: number): Refusal | null {
  if (bytesToFree(room, bytes) === 0) return null;
  if (ownToFree(room, bytes) > 0) return refuseUser(room.user, bytes);
  const size = formatSize(bytes);
  const { bytesUsed, bytesMax } = room;
  if (bytesUsed + bytes <= bytesMax) {
    return refuse('blob.disk_full', { cause: `no room for ${size} more` });
  }
  const limit = formatSize(bytesMax);
  const used = formatSize(bytesUsed);
  const hint = bytes > bytesMax ? `It can never fit; ${ASK}.` : `${WAIT}, or ${ASK}.`;
  return refuse('blob.quota', { size, limit, used }, hint);
}

function refuseUser({ name, bytesUsed, bytesMax }: UserRoom, bytes: number): Refusal {
  const sizes = { size: formatSize(bytes), limit: formatSize(bytesMax) };
  const details = { user: name, ...sizes, used: formatSize(bytesUsed) };
  const ask = `ask an admin for more: \`weft user modify ${quoteWord(name)} --files SIZE\``;
  const hint = bytes > bytesMax ? `It can never fit; ${ask}.` : `${WAIT}, or ${ask}.`;
  return refuse('blob.user_quota', details, hint);
}

/** Why an upload ended before all of it had come. */
export function endedForOutput({ bytesUsed, bytesMax }: Room, size: number): Refusal {
  const details = {
    size: formatSize(size),
    limit: formatSize(bytesMax),
    used: formatSize(bytesUsed),
  };
  return refuse('blob.quota', details, 'What jobs leave comes first; send it again later.');
}
