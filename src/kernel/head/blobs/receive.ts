// One piece of an upload from its connection to the disk, bounded in memory whatever its size.

import { err, ok, type Result } from '../../base/result.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import { isFull } from '../disk/disk-errors.ts';
import { FileWriter } from './file-writer.ts';
import { type OpenUpload, openUpload, type Turn, type UploadFile } from './uploads.ts';

/** What comes, in the order in which it comes; throws when the connection breaks. */
export type ByteSource = AsyncIterable<Uint8Array>;

export interface Received {
  /** All of it is on the disk, and is what it was said to be. */
  readonly isWhole: boolean;
}

export interface Receiver {
  readonly now: () => number;
  /** Takes room for bytes that have come; null: it is there. */
  readonly take: (bytes: number) => Promise<Refusal | null>;
  /** Called once the bytes are synced and verified, in the same turn, unless somebody took over. */
  readonly keep: () => void;
}

/**
 * Writes what comes. A connection that breaks leaves the upload as far as it came, and is no
 * failure. A refusal that says so (`blob.hash_mismatch`, `blob.quota`) means that the upload has to
 * go.
 */
export async function receivePiece(
  { upload, turn }: Turn,
  source: ByteSource,
  receiver: Receiver,
): Promise<Result<Received, Refusal>> {
  try {
    return await writePiece(upload, { ...receiver, source, turn });
  } catch (error) {
    if (!isFull(error)) throw error;
    return err(refuse('blob.disk_full', { cause: (error as Error).message }));
  } finally {
    if (upload.turn === turn) upload.isActive = false;
  }
}

interface Writing extends Receiver {
  readonly source: ByteSource;
  readonly turn: number;
}

async function writePiece(
  upload: UploadFile,
  writing: Writing,
): Promise<Result<Received, Refusal>> {
  const { file, hasher } = await openUpload(upload);
  try {
    const refusal = await writeAll(upload, { file, hasher, ...writing });
    if (refusal !== null) return err(refusal);
    if (upload.turn !== writing.turn) return err(takenOver(upload));
    if (upload.offset < upload.size) {
      upload.hasher = hasher;
      return ok({ isWhole: false });
    }
    const actual = hasher.digest('hex');
    if (actual !== upload.hash) {
      return err(refuse('blob.hash_mismatch', { hash: upload.hash, actual }));
    }
    await file.sync();
    if (upload.turn !== writing.turn) return err(takenOver(upload));
    writing.keep();
    return ok({ isWhole: true });
  } finally {
    await file.close();
  }
}

async function writeAll(
  upload: UploadFile,
  { file, hasher, source, turn, now, take }: Writing & OpenUpload,
): Promise<Refusal | null> {
  if (upload.turn !== turn) return takenOver(upload);
  const writer = new FileWriter({
    file,
    at: upload.offset,
    mayWrite: () => upload.turn === turn,
    written: (bytes) => {
      upload.offset += bytes;
      upload.touchedAt = now();
    },
  });
  upload.writer = writer;
  let left = upload.size - upload.offset;
  for await (const bytes of endedByBreak(source)) {
    if (upload.turn !== turn) return takenOver(upload);
    left -= bytes.length;
    if (left < 0) {
      const what = `more bytes came than the ${upload.size} that were announced`;
      return refuse('request.malformed', { what });
    }
    const noRoom = await take(bytes.length);
    if (noRoom !== null) return noRoom;
    if (upload.turn !== turn) return takenOver(upload);
    hasher.update(bytes);
    await writer.write(bytes);
  }
  await writer.end();
  return null;
}

/** What has come is kept; the sender goes on from there when it is back. */
async function* endedByBreak(source: ByteSource): AsyncGenerator<Uint8Array> {
  const pieces = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await pieces.next().catch(() => null);
      if (next === null || next.done === true) return;
      yield next.value;
    }
  } finally {
    await pieces.return?.();
  }
}

function takenOver({ hash, endedFor }: UploadFile): Refusal {
  return endedFor ?? refuse('blob.taken_over', { hash });
}
