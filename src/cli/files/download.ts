// Fetches a content from the head into a file: written aside, from where a broken connection ended,
// verified, and only then put in its place.

import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { fileProblem } from '../../config/file-problem.ts';
import type { BlobHash } from '../../core/model/blob.ts';
import { refuse } from '../../core/model/errors.ts';
import { Failure, failure, usage } from '../../core/model/failure.ts';
import type { Context } from '../context.ts';
import { withPatience } from '../jobs/retry.ts';

const AWAY_MAX_MS = 120_000;
/** A connection on which nothing comes is given up for a new one. */
const STALL_MS = 60_000;
const BLOCK_BYTES = 1_048_576;

export interface Wanted {
  readonly hash: BlobHash;
  readonly size: number;
  /** Where it goes. What lies there is replaced, once the new content is whole. */
  readonly path: string;
  /** Permission bits; absent: as the umask says. */
  readonly mode?: number;
}

/** Resolves when the file is there, whole and verified. */
export async function downloadFile(
  context: Context,
  wanted: Wanted,
  moved: (bytes: number) => void = () => undefined,
): Promise<void> {
  const aside = `${wanted.path}.${wanted.hash.slice(0, 12)}.part`;
  const file = await openAside(aside, wanted.path);
  try {
    const isWhole = (await fill(context, { wanted, file, moved })) === wanted.hash;
    // What an earlier connection has left may be damaged; what came in one go is what the head has.
    if (!isWhole && !(await fillAnew(context, { wanted, file, moved }))) {
      const { hash } = wanted;
      throw failure(refuse('blob.damaged', { hash, path: wanted.path }));
    }
    if (wanted.mode !== undefined) await file.chmod(wanted.mode);
    // Not synced: whoever fetches again after a crash looks at the hash of what is there.
    await rename(aside, wanted.path);
  } catch (error) {
    if (error instanceof Failure && error.code === 'blob.damaged') await rm(aside, { force: true });
    throw localProblem(error, wanted.path);
  } finally {
    await file.close();
  }
}

interface Filling {
  readonly wanted: Wanted;
  readonly file: FileHandle;
  readonly moved: (bytes: number) => void;
}

async function fillAnew(context: Context, filling: Filling): Promise<boolean> {
  await filling.file.truncate(0);
  return (await fill(context, filling)) === filling.wanted.hash;
}

/** Goes on until the file is as long as it should be. Resolves with the hash of what is there. */
async function fill(context: Context, { wanted, file, moved }: Filling): Promise<string> {
  const { size } = await file.stat();
  if (size > wanted.size) await file.truncate(0);
  const at = { offset: size > wanted.size ? 0 : size, hasher: createHash('sha256') };
  await hashFirst(file, at);
  const patience = {
    totalMs: AWAY_MAX_MS,
    note: `Going on with ${wanted.path} as soon as it can.`,
  };
  while (at.offset < wanted.size) {
    const before = at.offset;
    try {
      await withPatience(context, patience, () => fetchRest(context, wanted, { file, at, moved }));
    } catch (error) {
      const isAway = error instanceof Failure && error.kind === 'unavailable';
      if (!isAway || at.offset === before) throw error;
    }
  }
  return at.hasher.digest('hex');
}

interface Place {
  offset: number;
  /** Of all bytes before it. */
  readonly hasher: Hash;
}

async function hashFirst(file: FileHandle, { offset, hasher }: Place): Promise<void> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  for (let done = 0; done < offset; ) {
    const { bytesRead } = await file.read(block, 0, Math.min(block.length, offset - done), done);
    if (bytesRead === 0) throw new Error('the file became shorter while it was fetched');
    hasher.update(block.subarray(0, bytesRead));
    done += bytesRead;
  }
}

/** One connection's worth, or all that is left. */
async function fetchRest(
  context: Context,
  { hash, size }: Wanted,
  { file, at, moved }: { file: FileHandle; at: Place; moved: (bytes: number) => void },
): Promise<void> {
  const api = await context.api();
  const headers = { range: `bytes=${at.offset}-` };
  const answer = await api.stream('readBlob', { params: { hash }, headers });
  const watch = setTimeout(() => answer.destroy(new Error('nothing came')), STALL_MS).unref();
  try {
    for await (const piece of answer) {
      watch.refresh();
      const bytes = (piece as Buffer).subarray(0, size - at.offset);
      await writeFully(file, bytes, at.offset);
      at.hasher.update(bytes);
      at.offset += bytes.length;
      moved(bytes.length);
    }
  } catch (error) {
    if (isDisk(error)) throw error;
    const cause = (error as Error).message;
    throw failure(refuse('head.unreachable', { address: api.address, cause }));
  } finally {
    clearTimeout(watch);
  }
}

async function writeFully(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}

async function openAside(aside: string, path: string): Promise<FileHandle> {
  try {
    return await open(aside, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW);
  } catch (error) {
    throw localProblem(error, path);
  }
}

function isDisk(error: unknown): boolean {
  const { syscall, code } = error as NodeJS.ErrnoException;
  return syscall === 'write' && code !== 'EPIPE';
}

/** What is there stays beside its place, to go on from. */
function localProblem(error: unknown, path: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined || error instanceof Failure) return error;
  const hint =
    code === 'ENOSPC' ? 'What came so far is kept beside it: make room and try again.' : undefined;
  return usage(`cannot write ${path}: ${fileProblem(error)}`, hint);
}
