// A file of this machine whose content goes to the head: what it is, its hash, and that it stayed
// as it was meanwhile.

import { createHash, hash as hashAtOnce } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  openSync,
  read,
  readSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { fileProblem } from '../config/file-problem.ts';
import { versionOf } from '../files/verified.ts';
import type { BlobHash } from '../model/blob.ts';
import { usage } from '../model/failure.ts';
import { BLOB_PACKED_BYTES_MAX } from '../model/limits.ts';

/** Never waits for the other end of a pipe, as which the file may turn out. */
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
const BLOCK_BYTES = 1_048_576;
const BREATH_EVERY_MS = 10;
const readAt = promisify(read);

export interface LocalFile {
  readonly path: string;
  readonly size: number;
  readonly hash: BlobHash;
  /** Permission bits. */
  readonly mode: number;
  /** Another one: somebody has written to it, or put another in its place. */
  readonly version: string;
  /** What is no file at all but made here, or was kept when it was read. */
  readonly bytes?: Uint8Array;
  /** Opens it where its path is not to be trusted; throws when it is another one by now. */
  readonly openFd?: () => number;
}

/** A content that is being read, from any place. */
export interface OpenContent {
  /** How many bytes came; 0 at the end. */
  read(into: Uint8Array, length: number, at: number): Promise<number>;
  /** All of it, where it is small. */
  readWhole(): Uint8Array;
  close(): void;
}

interface Hashing {
  readonly signal?: AbortSignal;
  /** Called with the number of bytes that are done. */
  readonly moved?: (bytes: number) => void;
}

/** Throws a failure that names the file when its content cannot be had. */
export async function readLocalFile(
  path: string,
  moved?: (bytes: number) => void,
): Promise<LocalFile> {
  await breath();
  const { fd, status } = openRegular(path);
  try {
    const size = Number(status.size);
    const hash = await hashOpen(fd, size, moved === undefined ? {} : { moved });
    const version = versionOf(fstatSync(fd, { bigint: true }));
    if (version !== versionOf(status)) throw changed(path);
    return { path, size, hash, mode: Number(status.mode & 0o777n), version };
  } catch (error) {
    throw isSystems(error) ? usage(`cannot read ${path}: ${fileProblem(error)}`) : error;
  } finally {
    closeSync(fd);
  }
}

/** The hash of a file that is open, from its first byte. Throws the signal's reason. */
export async function hashOpen(fd: number, size: number, how: Hashing = {}): Promise<BlobHash> {
  if (size > BLOB_PACKED_BYTES_MAX) return await hashLarge(fd, how);
  // A pool of threads would take longer to hand a small file over than reading it takes.
  const { bytes, hash } = readSmall(fd, size);
  how.moved?.(bytes.length);
  return hash;
}

let breathedAt = 0;

/** Thousands of small files, each read at once, must not keep a process from everything else. */
export function breath(): Promise<void> | undefined {
  if (performance.now() - breathedAt < BREATH_EVERY_MS) return undefined;
  return new Promise((resolve) => {
    setImmediate(() => {
      breathedAt = performance.now();
      resolve();
    });
  });
}

/** A content that is in memory; `name` is for messages. */
export function localBytes(name: string, bytes: Uint8Array): LocalFile {
  const hash = hashAtOnce('sha256', bytes, 'hex') as BlobHash;
  return { path: name, size: bytes.length, hash, mode: 0o644, version: '', bytes };
}

/** The file again. Throws when it is another one by now. */
export function openLocalFile({ path, size, version, bytes, openFd }: LocalFile): OpenContent {
  if (bytes !== undefined) return memoryContent(bytes);
  if (openFd !== undefined) return fileContent(openFd(), size);
  const { fd, status } = openRegular(path);
  if (versionOf(status) === version) return fileContent(fd, Number(status.size));
  closeSync(fd);
  throw changed(path);
}

function memoryContent(bytes: Uint8Array): OpenContent {
  return {
    read: (into, length, at) => {
      const piece = bytes.subarray(at, at + length);
      into.set(piece);
      return Promise.resolve(piece.length);
    },
    readWhole: () => bytes,
    close: () => undefined,
  };
}

function fileContent(fd: number, size: number): OpenContent {
  return {
    read: async (into, length, at) => (await readAt(fd, into, 0, length, at)).bytesRead,
    readWhole: () => readFully(fd, size),
    close: () => closeSync(fd),
  };
}

function openRegular(path: string): { fd: number; status: BigIntStats } {
  const fd = openToRead(path);
  try {
    const status = fstatSync(fd, { bigint: true });
    if (!status.isFile()) throw usage(`cannot send ${path}: it is ${kindOf(status)}`, KIND_HINT);
    return { fd, status };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function openToRead(path: string): number {
  try {
    return openSync(path, READ);
  } catch (error) {
    const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw usage(`cannot read ${path}: ${fileProblem(error)}`, isGone ? CHANGED_HINT : undefined);
  }
}

const CHANGED_HINT = 'Send it again once nobody changes it.';
const KIND_HINT = 'Only the content of ordinary files can be sent.';

function kindOf(status: BigIntStats): string {
  if (status.isDirectory()) return 'a directory';
  if (status.isFIFO()) return 'a pipe';
  if (status.isSocket()) return 'a socket';
  return 'a device';
}

/** Less, when the file is shorter by now. */
function readFully(fd: number, size: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(size);
  let done = 0;
  while (done < size) {
    const count = readSync(fd, bytes, done, size - done, done);
    if (count === 0) break;
    done += count;
  }
  return bytes.subarray(0, done);
}

/** A small content, with its hash. */
export function readSmall(fd: number, size: number): { bytes: Uint8Array; hash: BlobHash } {
  const bytes = readFully(fd, size);
  return { bytes, hash: hashAtOnce('sha256', bytes, 'hex') as BlobHash };
}

/** Reads the next block while one is hashed. */
async function hashLarge(fd: number, { signal, moved }: Hashing): Promise<BlobHash> {
  const hasher = createHash('sha256');
  let [block, other] = [Buffer.allocUnsafe(BLOCK_BYTES), Buffer.allocUnsafe(BLOCK_BYTES)];
  let at = 0;
  let { bytesRead } = await readAt(fd, block, 0, BLOCK_BYTES, at);
  while (bytesRead > 0) {
    // A file with holes may be longer than anybody can read.
    signal?.throwIfAborted();
    at += bytesRead;
    const next = readAt(fd, other, 0, BLOCK_BYTES, at);
    hasher.update(block.subarray(0, bytesRead));
    [block, other] = [other, block];
    moved?.(bytesRead);
    ({ bytesRead } = await next);
  }
  return hasher.digest('hex') as BlobHash;
}

function isSystems(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).syscall !== undefined;
}

function changed(path: string): Error {
  return usage(`${path} changed while it was read`, CHANGED_HINT);
}
