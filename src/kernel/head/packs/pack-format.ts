// The bytes of a pack: group after group, each what one user has sent at a time. A group is a
// header, the user's name, a table of hashes and sizes, and the contents themselves. What stands
// before the contents has a checksum; the contents are what their hashes say.
//
// Header: magic (4 bytes), number of contents (4), bytes of the name (4), nothing (4), bytes of all
// contents (8), how much of the file was on the disk before this group (8), SHA-256 of all this,
// name and table (32).

import { hash as hashOf } from 'node:crypto';
import type { BlobHash } from '../../model/blob.ts';

const MAGIC = 0x57465431;
const SUMMED_BYTES = 32;
export const HEADER_BYTES = 64;
const ROW_BYTES = 36;
/** One request's worth, and more; a header that says more is none. */
export const GROUP_CONTENTS_MAX = 10_000;
const NAME_BYTES_MAX = 1024;

export interface SmallContent {
  readonly hash: BlobHash;
  readonly bytes: Uint8Array;
}

export interface GroupRow {
  readonly hash: BlobHash;
  readonly size: number;
  /** From the beginning of the group. */
  readonly offset: number;
}

export interface GroupStart {
  /** Bytes of header, name and table. */
  readonly frontBytes: number;
  /** Bytes of all of it. */
  readonly length: number;
  readonly settled: number;
}

export interface GroupFront extends GroupStart {
  readonly user: string;
  readonly rows: readonly GroupRow[];
}

/** All of a group, in pieces to be written one after the other. */
export function encodeGroup(
  user: string,
  contents: readonly SmallContent[],
  settled: number,
): Uint8Array[] {
  const name = Buffer.from(user);
  const front = Buffer.alloc(HEADER_BYTES + name.length + contents.length * ROW_BYTES);
  name.copy(front, HEADER_BYTES);
  let at = HEADER_BYTES + name.length;
  let bodyBytes = 0;
  for (const { hash, bytes } of contents) {
    front.write(hash, at, 'hex');
    front.writeUInt32BE(bytes.length, at + 32);
    at += ROW_BYTES;
    bodyBytes += bytes.length;
  }
  front.writeUInt32BE(MAGIC, 0);
  front.writeUInt32BE(contents.length, 4);
  front.writeUInt32BE(name.length, 8);
  front.writeBigUInt64BE(BigInt(bodyBytes), 16);
  front.writeBigUInt64BE(BigInt(settled), 24);
  front.write(sumOf(front), SUMMED_BYTES, 'hex');
  return [front, ...contents.map(({ bytes }) => bytes)];
}

/** How long a group is that begins with this header; null: none does. */
export function readStart(header: Buffer): GroupStart | null {
  if (header.length < HEADER_BYTES || header.readUInt32BE(0) !== MAGIC) return null;
  const [count, nameBytes] = [header.readUInt32BE(4), header.readUInt32BE(8)];
  if (count > GROUP_CONTENTS_MAX || nameBytes > NAME_BYTES_MAX) return null;
  const frontBytes = HEADER_BYTES + nameBytes + count * ROW_BYTES;
  const length = frontBytes + Number(header.readBigUInt64BE(16));
  return { frontBytes, length, settled: Number(header.readBigUInt64BE(24)) };
}

/** What a group says of itself; null: it was not written to its end, or has changed since. */
export function readFront(front: Buffer): GroupFront | null {
  const start = readStart(front);
  if (start === null || front.length !== start.frontBytes) return null;
  const said = front.subarray(SUMMED_BYTES, HEADER_BYTES).toString('hex');
  if (sumOf(front) !== said) return null;
  const nameEnd = HEADER_BYTES + front.readUInt32BE(8);
  const rows: GroupRow[] = [];
  let offset = start.frontBytes;
  for (let at = nameEnd; at < front.length; at += ROW_BYTES) {
    const size = front.readUInt32BE(at + 32);
    rows.push({ hash: front.toString('hex', at, at + 32) as BlobHash, size, offset });
    offset += size;
  }
  if (offset !== start.length) return null;
  return { ...start, user: front.toString('utf8', HEADER_BYTES, nameEnd), rows };
}

function sumOf(front: Buffer): string {
  const summed = [front.subarray(0, SUMMED_BYTES), front.subarray(HEADER_BYTES)];
  return hashOf('sha256', Buffer.concat(summed), 'hex');
}
