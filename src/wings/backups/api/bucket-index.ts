// What a backup in a bucket consists of: an index, packed, with a line of JSON for each file of the
// folder that it was. Files are there as pieces under the names of their digests, each once.

import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { count } from '../../../kernel/api/common.ts';
import { inside, sha256 } from './backed-up.ts';

/** Each is read, sent and compared as a whole. */
export const PIECE_BYTES = 8_388_608;
export const INDEX_BYTES_MAX = 268_435_456;
const TEXT_BYTES_MAX = 1_073_741_824;

const indexed = z.strictObject({
  path: inside,
  bytes: count,
  sha256,
  /** Absent where the whole file is one. */
  pieces: z.array(sha256).optional(),
});
export type Indexed = z.infer<typeof indexed>;

export function packIndex(files: readonly Indexed[]): Buffer {
  return gzipSync(files.map((one) => `${JSON.stringify(one)}\n`).join(''));
}

/** Throws where it is none. */
export function unpackIndex(packed: Buffer): Indexed[] {
  const text = gunzipSync(packed, { maxOutputLength: TEXT_BYTES_MAX }).toString('utf8');
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const file = indexed.parse(JSON.parse(line));
    if (piecesOf(file).length === Math.ceil(file.bytes / PIECE_BYTES)) return file;
    throw new Error(`${file.path} has other pieces than bytes`);
  });
}

/** In their order; an empty file has none. */
export function piecesOf({ bytes, sha256: whole, pieces }: Indexed): readonly string[] {
  if (pieces !== undefined) return pieces;
  return bytes === 0 ? [] : [whole];
}

/** Names below the prefix. */
export const namesIn = (head: string) => ({
  piece: (digest: string) => `${head}/pieces/${digest}`,
  header: (name: string) => `${head}/${name}.json`,
  index: (name: string) => `${head}/${name}.index`,
});
