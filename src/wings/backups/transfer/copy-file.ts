// One file into a backup or out of one: bytes, permissions, time, and their digest in passing.

import { createHash } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  futimesSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { asOwnerOf, asRoot } from './as-owner.ts';
import { openPlain } from './plain-file.ts';

const PIECE_BYTES = 1_048_576;

export interface Copied {
  readonly bytes: number;
  readonly mtimeMs: number;
  readonly mode: number;
  readonly sha256: string;
}

/** `to` must not be there. What is appended while it is read may be in the copy or not. */
export function copyFile(from: string, to: string): Copied {
  return copyOpen(openSync(from, 'r'), to);
}

/**
 * A file of a backup that is put back, read as the owner of the backup's folder, who may have put
 * something else in its place: a link to what only root reads, or what never ends. Null: it is none
 * of that many bytes.
 */
export function copyBack(
  {
    folder,
    from,
    bytes,
  }: { readonly folder: string; readonly from: string; readonly bytes: number },
  to: string,
): Copied | null {
  const source = asRoot(() => asOwnerOf(folder, () => openPlain(from)));
  if (source === null) return null;
  const stats = fstatSync(source);
  if (stats.isFile() && stats.size === bytes) return copyOpen(source, to);
  closeSync(source);
  return null;
}

function copyOpen(source: number, to: string): Copied {
  try {
    const { mode, mtimeMs, atimeMs } = fstatSync(source);
    const target = openSync(to, 'wx', 0o600);
    try {
      const digest = createHash('sha256');
      const bytes = passOn(source, (piece) => {
        digest.update(piece);
        writeAll(target, piece);
      });
      fchmodSync(target, mode & 0o777);
      futimesSync(target, atimeMs / 1000, mtimeMs / 1000);
      return { bytes, mtimeMs, mode: mode & 0o777, sha256: digest.digest('hex') };
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}

function passOn(source: number, take: (piece: Buffer) => void): number {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  let bytes = 0;
  for (let read = readSync(source, piece); read > 0; read = readSync(source, piece)) {
    take(piece.subarray(0, read));
    bytes += read;
  }
  return bytes;
}

function writeAll(target: number, piece: Buffer): void {
  for (let written = 0; written < piece.length; ) {
    written += writeSync(target, piece, written);
  }
}

/** SHA-256 of a file, hex. */
export function digestOf(path: string): string {
  const digest = createHash('sha256');
  const file = openSync(path, 'r');
  try {
    passOn(file, (piece) => digest.update(piece));
  } finally {
    closeSync(file);
  }
  return digest.digest('hex');
}

/** A file's bytes, or the names in a folder, are on the disk. */
export function syncPath(path: string): void {
  const open = openSync(path, 'r');
  try {
    fsyncSync(open);
  } finally {
    closeSync(open);
  }
}
