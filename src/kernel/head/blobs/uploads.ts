// Uploads that are not complete: a file each, written and hashed as the bytes come. One connection
// at a time writes to it; a newer one takes over, as the older may be a line that is dead and not
// yet closed.

import { createHash, type Hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { ok, type Result } from '../../base/result.ts';
import { admitPiece, diskBytes, type Piece, type Upload } from '../../files/blobs/upload.ts';
import type { BlobHash } from '../../model/blob.ts';
import type { Refusal } from '../../model/errors.ts';
import { BLOB_UPLOADS_PER_USER_MAX } from '../../model/limits.ts';
import { absent } from '../disk/disk-errors.ts';
import { type BlobPlaces, readUploadName, type UploadName } from './blob-places.ts';

/** Read at once to hash again what an earlier head has written. */
const BLOCK_BYTES = 1_048_576;

export class UploadFile implements Upload {
  readonly hash: BlobHash;
  readonly user: string;
  readonly size: number;
  readonly path: string;
  offset: number;
  /** Bytes that have room: those up to `offset`, and those that are about to be written. */
  taken: number;
  touchedAt: number;
  /** Sent by a node, of what a job leaves. */
  isOutput = false;
  /** Why it was ended although its sender is there. */
  endedFor: Refusal | null = null;
  /** Has the bytes up to `offset`; null while somebody writes, or when they must be read again. */
  hasher: Hash | null = null;
  /** Counts connections: whoever is not the last one writes no more. */
  turn = 0;
  isActive = false;
  /** The connection that writes, or has written last: its write under way has to end first. */
  writer: { readonly idle: Promise<void> } | null = null;

  constructor(name: UploadName, file: string, at: { offset: number; touchedAt: number }) {
    this.hash = name.hash;
    this.user = name.user;
    this.size = name.size;
    this.path = file;
    this.offset = at.offset;
    this.taken = at.offset;
    this.touchedAt = at.touchedAt;
  }
}

/** The right to write to an upload, until somebody else takes over. */
export interface Turn {
  readonly upload: UploadFile;
  readonly turn: number;
}

export class Uploads {
  readonly #places: BlobPlaces;
  readonly #all = new Map<string, UploadFile>();
  readonly #byUser = new Map<string, number>();
  #bytes = 0;

  constructor(places: BlobPlaces) {
    this.#places = places;
  }

  /** Finds what an earlier head has left. */
  async prepare(): Promise<void> {
    for (const file of await readdir(this.#places.uploads)) {
      const full = path.join(this.#places.uploads, file);
      const name = readUploadName(file);
      const status = name === null ? null : await stat(full).catch(absent(null));
      if (name === null || status === null || status.size > name.size) {
        await rm(full, { force: true });
        continue;
      }
      const at = { offset: status.size, touchedAt: status.mtimeMs };
      this.#add(new UploadFile(name, full, at));
    }
  }

  /** What all of them take up. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What those of a user take up. */
  bytesOf(user: string): number {
    return this.#byUser.get(user) ?? 0;
  }

  #addBytes(user: string, bytes: number): void {
    this.#bytes += bytes;
    const left = this.bytesOf(user) + bytes;
    if (left > 0) this.#byUser.set(user, left);
    else this.#byUser.delete(user);
  }

  /** Reserves room for bytes that are about to be written. */
  take(upload: UploadFile, bytes: number): void {
    this.#setTaken(upload, upload.taken + bytes);
  }

  #setTaken(upload: UploadFile, bytes: number): void {
    // One that was removed meanwhile takes up nothing.
    const isThere = this.get(upload.user, upload.hash) === upload;
    if (isThere) this.#addBytes(upload.user, diskBytes(bytes) - diskBytes(upload.taken));
    upload.taken = bytes;
  }

  #add(upload: UploadFile): void {
    this.#all.set(keyOf(upload.user, upload.hash), upload);
    this.#addBytes(upload.user, diskBytes(upload.taken));
  }

  get(user: string, hash: BlobHash): UploadFile | null {
    return this.#all.get(keyOf(user, hash)) ?? null;
  }

  all(): UploadFile[] {
    return [...this.#all.values()];
  }

  isUploading(hash: BlobHash): boolean {
    for (const upload of this.#all.values()) {
      if (upload.hash === hash && upload.isActive) return true;
    }
    return false;
  }

  /** The upload that a piece belongs to, and the turn to write to it: nobody else has it now. */
  async begin(
    user: string,
    hash: BlobHash,
    piece: Piece,
    now: number,
  ): Promise<Result<Turn, Refusal>> {
    for (;;) {
      const before = this.get(user, hash);
      // Looked at before, so that who cannot go on ends nobody's, and after: it may have gone on.
      const admitted = admitPiece(hash, before, piece);
      if (!admitted.ok) return admitted;
      if (before === null) {
        await this.#dropOldestOf(user);
        if (this.get(user, hash) !== null) continue;
        return ok(this.#turnOf(this.#make({ user, hash, size: piece.size }, now)));
      }
      await takeOver(before);
      if (this.get(user, hash) !== before) continue;
      if (before.size !== piece.size) await this.remove(before);
      else if (piece.offset === before.offset) return ok(this.#turnOf(before));
      else if (piece.offset === 0) return ok(this.#turnOf(startAgain(before)));
    }
  }

  async #dropOldestOf(user: string): Promise<void> {
    const own = this.all().filter((upload) => upload.user === user && !upload.isActive);
    if (own.length < BLOB_UPLOADS_PER_USER_MAX) return;
    const oldest = own.reduce((a, b) => (b.touchedAt < a.touchedAt ? b : a));
    await this.remove(oldest);
  }

  #make(name: UploadName, now: number): UploadFile {
    const at = { offset: 0, touchedAt: now };
    const upload = new UploadFile(name, this.#places.incoming(name), at);
    this.#add(upload);
    return upload;
  }

  #turnOf(upload: UploadFile): Turn {
    upload.turn += 1;
    upload.isActive = true;
    // What an earlier connection was about to write is not there.
    this.#setTaken(upload, upload.offset);
    return { upload, turn: upload.turn };
  }

  /** Forgets it; its file may have become a blob. */
  forget({ user, hash, taken }: UploadFile): void {
    if (this.#all.delete(keyOf(user, hash))) this.#addBytes(user, -diskBytes(taken));
  }

  async remove(upload: UploadFile): Promise<void> {
    upload.turn += 1;
    if (this.get(upload.user, upload.hash) === upload) this.forget(upload);
    // One that was given up before its first byte has no file.
    if (existsSync(upload.path)) await rm(this.#places.discard(upload.path));
  }
}

function startAgain(upload: UploadFile): UploadFile {
  upload.offset = 0;
  upload.hasher = null;
  return upload;
}

/** Resolves when nobody else writes to it any more. */
async function takeOver(upload: UploadFile): Promise<void> {
  for (;;) {
    upload.turn += 1;
    const { writer } = upload;
    // It begins no other write: the turn is no longer its own.
    await writer?.idle;
    // Another newcomer may have begun meanwhile.
    if (upload.writer === writer) return;
  }
}

function keyOf(user: string, hash: BlobHash): string {
  return `${hash} ${user}`;
}

export interface OpenUpload {
  readonly file: FileHandle;
  /** Has all bytes before the next one. */
  readonly hasher: Hash;
}

/** Opened where the next byte belongs. */
export async function openUpload(upload: UploadFile): Promise<OpenUpload> {
  const { hasher, offset } = upload;
  upload.hasher = null;
  const file = await open(upload.path, offset === 0 ? 'w+' : 'r+', 0o600);
  try {
    return { file, hasher: hasher ?? (await hashOf(file, offset)) };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function hashOf(file: FileHandle, bytes: number): Promise<Hash> {
  const hasher = createHash('sha256');
  const block = Buffer.allocUnsafe(Math.min(BLOCK_BYTES, bytes));
  for (let at = 0; at < bytes; ) {
    const { bytesRead } = await file.read(block, 0, Math.min(block.length, bytes - at), at);
    if (bytesRead === 0) throw new Error(`an upload ends after ${at} bytes instead of ${bytes}`);
    hasher.update(block.subarray(0, bytesRead));
    at += bytesRead;
  }
  return hasher;
}
