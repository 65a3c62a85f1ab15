// Small files that travel together: many in one request, as frames.

import { frameHeader, frameLength } from '../api/blob-frames.ts';
import { SAMPLE_BYTES } from '../api/coding.ts';
import type { ByteBody } from '../api/exchange.ts';
import { usage } from '../model/failure.ts';
import { type LocalFile, openLocalFile } from './local-file.ts';
import type { StuckWatch } from './stuck.ts';

/** Size of one request: what is lost with a line that breaks is sent again. */
const PACK_BYTES = 8 * 1_048_576;
const PACK_FILES = 2000;
/** Gathered from several files before it goes out. */
const PIECE_BYTES = 64 * 1024;

/** Parts of a list, each as much as goes into one request. */
export function packed<T extends { readonly size: number }>(files: readonly T[]): T[][] {
  const packs: T[][] = [];
  let bytes = 0;
  for (const file of files) {
    const last = packs.at(-1);
    if (last === undefined || last.length >= PACK_FILES || bytes >= PACK_BYTES) {
      packs.push([file]);
      bytes = 0;
    } else {
      last.push(file);
    }
    bytes += frameLength(file.size);
  }
  return packs;
}

export function bytesOfPack(
  files: readonly LocalFile[],
  watch: StuckWatch,
  moved: (bytes: number) => void,
): ByteBody {
  return {
    length: files.reduce((sum, { size }) => sum + frameLength(size), 0),
    open: () => watch.stream(frames(files, moved)),
  };
}

/** What a pack begins with, to see whether compressing it pays. */
export function sampleOfPack(files: readonly LocalFile[]): Uint8Array {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (const file of files) {
    const piece = readWhole(file);
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= SAMPLE_BYTES) break;
  }
  return Buffer.concat(pieces);
}

async function* frames(
  files: readonly LocalFile[],
  moved: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  for (const file of files) {
    const content = readWhole(file);
    pieces.push(frameHeader(file.hash, file.size), content);
    bytes += content.length;
    if (bytes < PIECE_BYTES && file !== files.at(-1)) continue;
    yield Buffer.concat(pieces);
    moved(bytes);
    pieces = [];
    bytes = 0;
  }
}

function readWhole(file: LocalFile): Uint8Array {
  const opened = openLocalFile(file);
  try {
    const content = opened.readWhole();
    if (content.length === file.size) return content;
  } finally {
    opened.close();
  }
  throw usage(`${file.path} changed while it was sent`, 'Send it again once nobody writes to it.');
}
