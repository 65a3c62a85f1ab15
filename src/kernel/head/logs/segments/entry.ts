// One output in a segment, as bytes: a head of fixed size, which says whose output it is, how long
// it is, and the checksums of itself and of what follows, and then the output. Enough to find
// everything again without any other file.

import { crc32 } from 'node:zlib';
import type { LogPlace } from '../log-path.ts';

const HEAD_BYTES = 28;
const VERSION = 1;
/** Where the head says what: after its own checksum and that of the output. */
const AT = { length: 8, stream: 10, version: 11, index: 12, epoch: 16, nodeRank: 20, rank: 24 };

/** Output of an array's task: only these have enough of them to share a file. */
export type SmallPlace = Omit<LogPlace, 'place'> & { readonly index: number };

export interface Found {
  readonly place: SmallPlace;
  /** Where its output begins, from the begin of what was scanned. */
  readonly from: number;
  readonly length: number;
}

export interface Scan {
  readonly found: readonly Found[];
  /** Where the first entry begins that is not whole; the end when all are. */
  readonly next: number;
  /** No entry begins there, however many bytes follow. */
  readonly isTorn: boolean;
}

/** What stands before the output. Without any bytes: the output has a file of its own. */
export function encodeHead(place: SmallPlace, bytes: Uint8Array): Uint8Array {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(crc32(bytes), 4);
  head.writeUInt16LE(bytes.length, AT.length);
  head.writeUInt8(place.stream === 'stdout' ? 0 : 1, AT.stream);
  head.writeUInt8(VERSION, AT.version);
  for (const name of ['index', 'epoch', 'nodeRank', 'rank'] as const) {
    head.writeUInt32LE(place[name], AT[name]);
  }
  head.writeUInt32LE(crc32(head.subarray(4)), 0);
  return head;
}

/** All whole entries. One whose output is damaged is left out, and those after it are found. */
export function scanEntries(bytes: Buffer): Scan {
  const found: Found[] = [];
  let next = 0;
  while (next + HEAD_BYTES <= bytes.length) {
    const head = bytes.subarray(next, next + HEAD_BYTES);
    if (!isHead(head)) return { found, next, isTorn: true };
    const from = next + HEAD_BYTES;
    const length = head.readUInt16LE(AT.length);
    if (from + length > bytes.length) break;
    const isSound = crc32(bytes.subarray(from, from + length)) === head.readUInt32LE(4);
    if (isSound) found.push({ place: placeIn(head), from, length });
    next = from + length;
  }
  return { found, next, isTorn: false };
}

function isHead(head: Buffer): boolean {
  if (head.readUInt8(AT.version) !== VERSION) return false;
  return head.readUInt32LE(0) === crc32(head.subarray(4));
}

function placeIn(head: Buffer): SmallPlace {
  return {
    index: head.readUInt32LE(AT.index),
    epoch: head.readUInt32LE(AT.epoch),
    nodeRank: head.readUInt32LE(AT.nodeRank),
    rank: head.readUInt32LE(AT.rank),
    stream: head.readUInt8(AT.stream) === 0 ? 'stdout' : 'stderr',
  };
}
