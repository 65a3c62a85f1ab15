// Many small contents in one body: of each its SHA-256 (32 bytes), its size (8 bytes, the highest
// first) and its bytes. Loads no schema library.

import { BLOB_PACKED_BYTES_MAX } from '../model/limits.ts';

const HASH_BYTES = 32;
const HEADER_BYTES = HASH_BYTES + 8;

export interface BlobFrame {
  /** In hex. */
  readonly hash: string;
  readonly bytes: Uint8Array;
}

/** Bytes that a content of this size takes up in a body. */
export function frameLength(size: number): number {
  return HEADER_BYTES + size;
}

export function frameHeader(hash: string, size: number): Uint8Array {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(hash, 0, 'hex');
  header.writeBigUInt64BE(BigInt(size), HASH_BYTES);
  return header;
}

/** Throws words when the bytes are no frames, or end within one. */
export async function* readFrames(source: AsyncIterable<Uint8Array>): AsyncGenerator<BlobFrame> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  let wanted = HEADER_BYTES;
  for await (const piece of source) {
    pieces.push(piece);
    length += piece.length;
    if (length < wanted) continue;
    let bytes = pieces.length === 1 ? piece : Buffer.concat(pieces);
    for (;;) {
      const size = sizeOf(bytes);
      wanted = HEADER_BYTES + (size ?? 0);
      if (size === null || bytes.length < wanted) break;
      const hash = Buffer.from(bytes.subarray(0, HASH_BYTES)).toString('hex');
      yield { hash, bytes: bytes.subarray(HEADER_BYTES, wanted) };
      bytes = bytes.subarray(wanted);
    }
    pieces = bytes.length === 0 ? [] : [bytes];
    length = bytes.length;
  }
  if (length > 0) throw new Error(`the body ends within a content, after ${length} bytes of it`);
}

/** Null when that is not known yet. */
function sizeOf(bytes: Uint8Array): number | null {
  if (bytes.length < HEADER_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  const size = view.getBigUint64(HASH_BYTES);
  if (size <= BigInt(BLOB_PACKED_BYTES_MAX)) return Number(size);
  throw new Error(
    `a content of ${size} bytes is sent by itself; here ${BLOB_PACKED_BYTES_MAX} at most`,
  );
}
