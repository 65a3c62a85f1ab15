// A backup that was made beside the head goes to a bucket: the pieces that are not there, its
// index, and last the header that makes it one. Then the oldest go.

import { createHash } from 'node:crypto';
import { closeSync, lstatSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { CONFIGURATION_FOLDER, HEAD_FOLDER, HEADER_FILE, LIST_FILE } from '../api/backup-header.ts';
import {
  INDEX_BYTES_MAX,
  type Indexed,
  namesIn,
  PIECE_BYTES,
  packIndex,
  piecesOf,
  unpackIndex,
} from '../api/bucket-index.ts';
import { instantOf } from '../core/backup-name.ts';
import { surplus } from '../core/retention.ts';
import { atOnce } from '../transfer/at-once.ts';
import type { Bucket, Listed } from '../transfer/bucket.ts';
import { digestOf } from '../transfer/copy-file.ts';
import { entriesOf, type WholeBackup } from '../transfer/read-backups.ts';

/** Another head of this identity may be sending what no index names yet. */
const UNNAMED_STAYS_MS = 86_400_000;

interface Piece {
  readonly file: string;
  readonly at: number;
  readonly bytes: number;
}

/** Null, or why old ones are left. Throws an error in words; then the bucket has no such backup. */
export async function sendBackup(
  made: WholeBackup,
  bucket: Bucket,
  { keep, tell }: { keep: number; tell(entries: number, bytes: number): void },
): Promise<string | null> {
  const { head } = made.header;
  const names = namesIn(head);
  const others = [...(await bucket.list(`${head}/weft-`)).keys()];
  const there = await bucket.list(names.piece(''));
  const index = indexOf(made, await largeOnes(bucket, head, others));
  const missing = [...piecesIn(made, index)].filter(
    ([digest, { bytes }]) => there.get(names.piece(digest))?.bytes !== bytes,
  );
  let sent = 0;
  await atOnce(missing, async ([digest, piece], at) => {
    await bucket.put(names.piece(digest), readPiece(digest, piece));
    sent += piece.bytes;
    tell(at + 1, sent);
  });
  await bucket.put(names.index(made.name), packIndex(index));
  // Last, as it says that all the rest is there.
  await bucket.put(names.header(made.name), readFileSync(join(made.folder, HEADER_FILE)));
  try {
    await removeOld(bucket, { head, keep, name: made.name, index, there });
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Pieces of large files as the newest index has them: those that did not change are not read. */
async function largeOnes(
  bucket: Bucket,
  head: string,
  others: readonly string[],
): Promise<Map<string, Indexed>> {
  const last = wholeOf(head, others).at(-1);
  const index = last === undefined ? [] : await indexIn(bucket, head, last).catch(() => []);
  return new Map(index.flatMap((one) => (one.pieces === undefined ? [] : [[one.sha256, one]])));
}

/** Names of backups, the oldest first. */
export const wholeOf = (head: string, keys: readonly string[]): string[] =>
  namesBelow(head, keys, '.json').sort();

/** Nothing else that lies there: it is somebody's, and its name may lead elsewhere. */
function namesBelow(head: string, keys: readonly string[], end: '.json' | '.index'): string[] {
  const names = keys.flatMap((key) =>
    key.startsWith(`${head}/`) && key.endsWith(end) ? key.slice(head.length + 1, -end.length) : [],
  );
  return names.filter((name) => instantOf(name) !== null);
}

async function indexIn(bucket: Bucket, head: string, name: string): Promise<Indexed[]> {
  const packed = await bucket.get(namesIn(head).index(name), INDEX_BYTES_MAX);
  if (packed === null) throw new Error(`the index of ${name} is gone`);
  return unpackIndex(packed);
}

function indexOf(made: WholeBackup, large: ReadonlyMap<string, Indexed>): Indexed[] {
  const beside = readdirSync(join(made.folder, CONFIGURATION_FOLDER)).map(
    (name) => `${CONFIGURATION_FOLDER}/${name}`,
  );
  const plain = [LIST_FILE, ...beside].map((path) => {
    const file = join(made.folder, path);
    return { path, bytes: lstatSync(file).size, sha256: digestOf(file) };
  });
  const listed = entriesOf(made).flatMap((entry) => {
    if (entry.kind !== 'file') return [];
    const { path, bytes, sha256 } = entry;
    return { path: `${HEAD_FOLDER}/${path}`, bytes, sha256 };
  });
  return [...plain, ...listed].map((one) => {
    if (one.bytes <= PIECE_BYTES) return one;
    const pieces = large.get(one.sha256)?.pieces ?? digestsOf(join(made.folder, one.path), one);
    return { ...one, pieces: [...pieces] };
  });
}

function digestsOf(file: string, { bytes }: { readonly bytes: number }): string[] {
  const digests: string[] = [];
  for (let at = 0; at < bytes; at += PIECE_BYTES) {
    digests.push(sha256(bytesAt({ file, at, bytes: Math.min(PIECE_BYTES, bytes - at) })));
  }
  return digests;
}

/** Where each of them is in the folder of the backup. */
function piecesIn({ folder }: WholeBackup, index: readonly Indexed[]): Map<string, Piece> {
  const found = new Map<string, Piece>();
  for (const one of index) {
    for (const [number, digest] of piecesOf(one).entries()) {
      const at = number * PIECE_BYTES;
      const bytes = Math.min(PIECE_BYTES, one.bytes - at);
      found.set(digest, { file: join(folder, one.path), at, bytes });
    }
  }
  return found;
}

function readPiece(digest: string, piece: Piece): Buffer {
  const bytes = bytesAt(piece);
  if (sha256(bytes) === digest) return bytes;
  throw new Error(`${piece.file} differs from what was written`);
}

function bytesAt({ file, at, bytes }: Piece): Buffer {
  const read = Buffer.alloc(bytes);
  const open = openSync(file, 'r');
  try {
    for (let end = 0; end < bytes; ) {
      const count = readSync(open, read, end, bytes - end, at + end);
      if (count === 0) break;
      end += count;
    }
    return read;
  } finally {
    closeSync(open);
  }
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

interface Old {
  readonly head: string;
  readonly keep: number;
  /** The backup that was just made. */
  readonly name: string;
  readonly index: readonly Indexed[];
  /** What lay there before it below `pieces/`. */
  readonly there: ReadonlyMap<string, Listed>;
}

/** A piece goes only when no index that is left names it, and nobody may be sending it. */
async function removeOld(bucket: Bucket, { head, keep, name, index, there }: Old): Promise<void> {
  const names = namesIn(head);
  // Looked at again: another head of this identity may have ended its own since.
  const others = await bucket.list(`${head}/weft-`);
  const whole = wholeOf(head, [...others.keys()]).filter((one) => one !== name);
  const gone = surplus(whole, keep - 1);
  // The header first: what is cut off in between is no backup.
  for (const one of gone) await bucket.remove(names.header(one));
  const indexes = namesBelow(head, [...others.keys()], '.index');
  // Those without a header are cut off, or on their way.
  const coming = indexes.filter(
    (one) => !whole.includes(one) && one !== name && !isOver(others.get(names.index(one))),
  );
  const left = [...whole.filter((one) => !gone.includes(one)), ...coming];
  const over = indexes.filter((one) => one !== name && !left.includes(one));
  for (const one of over) await bucket.remove(names.index(one));
  const used = new Set(index.flatMap(piecesOf).map(names.piece));
  let unused = [...there].flatMap(([key, listed]) => {
    const isPiece = DIGEST.test(key.slice(names.piece('').length));
    return isPiece && isOver(listed) && !used.has(key) ? [key] : [];
  });
  for (const one of left) {
    if (unused.length === 0) return;
    const also = new Set((await indexIn(bucket, head, one)).flatMap(piecesOf).map(names.piece));
    unused = unused.filter((key) => !also.has(key));
  }
  await atOnce(unused, (key) => bucket.remove(key));
}

const DIGEST = /^[0-9a-f]{64}$/;

const isOver = (listed: Listed | undefined): boolean =>
  (listed?.writtenAt ?? Infinity) < Date.now() - UNNAMED_STAYS_MS;
