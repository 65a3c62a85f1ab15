// A file of this machine whose content goes to the head: what it is, its hash, and that it stayed as it
// was meanwhile.

import { createHash } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { fileProblem } from '../config/file-problem.ts';
import type { BlobHash } from '../core/model/blob.ts';
import { usage } from '../core/model/failure.ts';

/** Never waits for the other end of a pipe, as which the file may turn out. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
const BLOCK_BYTES = 1_048_576;

export interface LocalFile {
  readonly path: string;
  readonly size: number;
  readonly hash: BlobHash;
  /** Permission bits. */
  readonly mode: number;
  /** Another one: somebody has written to it, or put another in its place. */
  readonly version: string;
}

/** Throws a failure that names the file when its content cannot be had. */
export async function readLocalFile(path: string): Promise<LocalFile> {
  return withFile(path, async (file, before) => {
    const hash = await hashOf(file);
    const after = versionOf(await file.stat({ bigint: true }));
    if (after !== versionOf(before)) throw changed(path);
    const mode = Number(before.mode & 0o777n);
    return { path, size: Number(before.size), hash, mode, version: after };
  });
}

/** The file again, for reading from any place. Throws when it is another one by now. */
export async function openLocalFile({ path, version }: LocalFile): Promise<FileHandle> {
  return openRegular(path, (status) => {
    if (versionOf(status) !== version) throw changed(path);
  });
}

async function withFile<T>(
  path: string,
  use: (file: FileHandle, status: BigIntStats) => Promise<T>,
): Promise<T> {
  let status: BigIntStats | undefined;
  const file = await openRegular(path, (found) => {
    status = found;
  });
  try {
    return await use(file, status as BigIntStats);
  } catch (error) {
    throw isSystems(error) ? usage(`cannot read ${path}: ${fileProblem(error)}`) : error;
  } finally {
    await file.close();
  }
}

async function openRegular(path: string, look: (status: BigIntStats) => void): Promise<FileHandle> {
  const file = await open(path, READ).catch((error: unknown) => {
    throw usage(`cannot read ${path}: ${fileProblem(error)}`);
  });
  try {
    const status = await file.stat({ bigint: true });
    if (!status.isFile()) throw usage(`cannot send ${path}: it is ${kindOf(status)}`, KIND_HINT);
    look(status);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

const KIND_HINT = 'Only the content of ordinary files can be sent.';

function kindOf(status: BigIntStats): string {
  if (status.isDirectory()) return 'a directory';
  if (status.isFIFO()) return 'a pipe';
  if (status.isSocket()) return 'a socket';
  return 'a device';
}

async function hashOf(file: FileHandle): Promise<BlobHash> {
  const hasher = createHash('sha256');
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  for (let at = 0; ; ) {
    const { bytesRead } = await file.read(block, 0, block.length, at);
    if (bytesRead === 0) return hasher.digest('hex') as BlobHash;
    hasher.update(block.subarray(0, bytesRead));
    at += bytesRead;
  }
}

/** ctime cannot be set back, unlike mtime. */
function versionOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join('-');
}

function isSystems(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).syscall !== undefined;
}

function changed(path: string): Error {
  return usage(`${path} changed while it was read`, 'Send it again once nobody writes to it.');
}
