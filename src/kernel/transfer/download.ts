// Fetches contents from the head into files: each written aside, from where a broken connection
// ended, verified, and only then put in its place.

import { createHash, type Hash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { refuse } from '../model/errors.ts';
import { Failure, failure } from '../model/failure.ts';
import { BLOB_PACKED_BYTES_MAX } from '../model/limits.ts';
import {
  type Arrivals,
  asideOf,
  flawOf,
  localProblem,
  READS,
  untilStuck,
  type Wanted,
} from './arriving.ts';
import { downloadPack, PACKS_AT_ONCE } from './download-pack.ts';
import { GatheredWrites } from './gathered-writes.ts';
import type { HeadAccess } from './head-access.ts';
import { inParallel } from './in-parallel.ts';
import { packed } from './pack.ts';

const BLOCK_BYTES = 1_048_576;
/** The number of upload.ts, for the same reasons. */
const AT_ONCE = 4;

/** Resolves when all are there, whole and verified, but for those that `flawed` was told. */
export async function downloadFiles(
  access: HeadAccess,
  files: readonly Wanted[],
  arrivals: Arrivals = {},
): Promise<void> {
  const { moved = () => undefined, flawed } = arrivals;
  const isSmall = ({ size }: Wanted): boolean => size <= BLOB_PACKED_BYTES_MAX;
  const packs = packed(files.filter(isSmall));
  await inParallel(packs, PACKS_AT_ONCE, (pack) => downloadPack(access, pack, { moved, flawed }));
  const large = files.filter((file) => !isSmall(file));
  await inParallel(large, AT_ONCE, async (file) => {
    await downloadFile(access, file, moved).catch((error: unknown) => {
      const flaw = flawOf(error);
      if (flaw === null || flawed === undefined) throw error;
      flawed(file, flaw);
    });
  });
}

async function downloadFile(
  access: HeadAccess,
  wanted: Wanted,
  moved: (bytes: number) => void,
): Promise<void> {
  const aside = asideOf(wanted);
  const file = await openAside(aside, wanted);
  try {
    const isWhole = (await fill(access, { wanted, file, moved })) === wanted.hash;
    // What an earlier connection has left may be damaged; what came in one go is what the head has.
    if (!isWhole && !(await fillAnew(access, { wanted, file, moved }))) {
      const { hash } = wanted;
      throw failure(refuse('blob.damaged', { hash, path: wanted.path }));
    }
    if (wanted.mode !== undefined) await file.chmod(wanted.mode);
    // Not synced: whoever fetches again after a crash looks at the hash of what is there.
    await rename(aside, wanted.path);
  } catch (error) {
    if (flawOf(error) !== null) await rm(aside, { force: true });
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

async function fillAnew(access: HeadAccess, filling: Filling): Promise<boolean> {
  await filling.file.truncate(0);
  return (await fill(access, filling)) === filling.wanted.hash;
}

/** Goes on until the file is as long as it should be. Resolves with the hash of what is there. */
async function fill(access: HeadAccess, { wanted, file, moved }: Filling): Promise<string> {
  const { size } = await file.stat();
  if (size > wanted.size) await file.truncate(0);
  const at = { offset: size > wanted.size ? 0 : size, hasher: createHash('sha256') };
  await hashFirst(file, at);
  const note = `Going on with ${wanted.path} as soon as it can.`;
  while (at.offset < wanted.size) {
    const before = at.offset;
    try {
      await access.patiently(note, () => fetchRest(access, wanted, { file, at, moved }));
    } catch (error) {
      if (isShort(error, wanted)) return 'less than it should be';
      const isAway = error instanceof Failure && error.kind === 'unavailable';
      if (!isAway || at.offset === before) throw error;
    }
  }
  return at.hasher.digest('hex');
}

/** What the head has ends before the place from where the rest was asked for. */
function isShort(error: unknown, { size }: Wanted): boolean {
  return error instanceof Failure && error.code === 'argument.invalid' && size > 0;
}

interface DownloadPosition {
  offset: number;
  /** Has all bytes before it. */
  readonly hasher: Hash;
}

async function hashFirst(file: FileHandle, { offset, hasher }: DownloadPosition): Promise<void> {
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
  access: HeadAccess,
  { hash, size }: Wanted,
  { file, at, moved }: { file: FileHandle; at: DownloadPosition; moved: (bytes: number) => void },
): Promise<void> {
  const api = await access.head();
  const headers = { ...READS, range: `bytes=${at.offset}-` };
  const answer = await api.stream('readBlob', { params: { hash }, headers });
  const writes = new GatheredWrites(file, at.offset);
  try {
    for await (const piece of untilStuck(answer, api.address)) {
      const bytes = piece.subarray(0, size - at.offset);
      at.hasher.update(bytes);
      at.offset += bytes.length;
      await writes.write(bytes);
      moved(bytes.length);
    }
  } finally {
    await writes.end();
  }
}

/** What is to be for its owner alone is so while it comes, too. */
async function openAside(aside: string, { path, mode }: Wanted): Promise<FileHandle> {
  try {
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
    return await open(aside, flags, mode === undefined ? undefined : 0o600);
  } catch (error) {
    throw localProblem(error, path);
  }
}
