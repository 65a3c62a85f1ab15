// Hashes of files and folders, read piece by piece.

import { createHash } from 'node:crypto';
import { open, readlink } from 'node:fs/promises';
import type { BlobHash } from '../../../../kernel/model/blob.ts';
import { hashOpen } from '../../../../kernel/transfer/local-file.ts';
import { walk } from '../../../../kernel/transfer/walk.ts';

const PIECE_BYTES = 1_048_576;
const ZEROS = Buffer.alloc(PIECE_BYTES);

/** SHA-256 of what is in a file. */
export async function hashFile(file: string | Buffer): Promise<BlobHash> {
  await using source = await open(file, 'r');
  return await hashOpen(source.fd, (await source.stat()).size);
}

/** Copies a file and gives the hash of exactly what was written; holes stay holes. */
export async function copyHashed(
  from: string | Buffer,
  to: string | Buffer,
): Promise<{ sha256: BlobHash; size: number }> {
  const hash = createHash('sha256');
  await using source = await open(from, 'r');
  await using target = await open(to, 'wx', 0o600);
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  let size = 0;
  for (;;) {
    const { bytesRead } = await source.read(piece, 0, PIECE_BYTES);
    if (bytesRead === 0) break;
    const part = piece.subarray(0, bytesRead);
    hash.update(part);
    const isHole = bytesRead === PIECE_BYTES && part.equals(ZEROS);
    if (!isHole) await writeAll(target, part, size);
    size += bytesRead;
  }
  // A hole at the end is none until the file is as long.
  await target.truncate(size);
  return { sha256: hash.digest('hex') as BlobHash, size };
}

/**
 * Stands for a file or all that is in a folder: names, contents, whether they can be run, links.
 */
export async function fingerprint(place: string, what: 'file' | 'folder'): Promise<string> {
  if (what === 'file') return hashFile(place);
  const hash = createHash('sha256');
  for (const { path, kind, full, stats } of walk(place)) {
    const canRun = kind === 'file' && (stats.mode & 0o111) !== 0;
    const inside =
      kind === 'file' ? await hashFile(full) : kind === 'link' ? await readlink(full) : '';
    hash.update(`${JSON.stringify([path, kind, canRun, inside])}\n`);
  }
  return hash.digest('hex');
}

async function writeAll(
  target: Awaited<ReturnType<typeof open>>,
  part: Buffer,
  position: number,
): Promise<void> {
  let written = 0;
  while (written < part.length) {
    const { bytesWritten } = await target.write(
      part,
      written,
      part.length - written,
      position + written,
    );
    written += bytesWritten;
  }
}
