// Fetches many small contents in one answer, each verified before it gets its name.

import { hash as hashAtOnce } from 'node:crypto';
import { closeSync, constants, fchmodSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { readFrames } from '../api/blob-frames.ts';
import type { BlobHash } from '../model/blob.ts';
import { refuse } from '../model/errors.ts';
import { Failure, failure } from '../model/failure.ts';
import {
  type Arrivals,
  asideOf,
  flawOf,
  localProblem,
  READS,
  untilStuck,
  type Wanted,
} from './arriving.ts';
import type { HeadAccess } from './head-access.ts';
import { inParallel } from './in-parallel.ts';
import { packed } from './pack.ts';

/** Never through a link that somebody has put there. */
const ANEW = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

export const PACKS_AT_ONCE = 2;

/** A content, and what it is for. */
export type Named = Pick<Wanted, 'hash' | 'path'>;

/** What has come whole stays; the rest is asked for again as long as that becomes less. */
export function downloadPack(
  access: HeadAccess,
  pack: readonly Wanted[],
  { moved, flawed }: Required<Pick<Arrivals, 'moved'>> & PackFlaws<Wanted>,
): Promise<void> {
  const take = (wanted: Wanted, bytes: Uint8Array): void => {
    writeSmall(wanted, bytes);
    moved(bytes.length);
  };
  return receivePack(access, pack, { take, flawed });
}

/** The same for contents that whoever asks keeps by itself. */
export function receiveSmall(
  access: HeadAccess,
  contents: readonly { readonly hash: BlobHash; readonly size: number }[],
  keep: (hash: BlobHash, bytes: Uint8Array) => void,
): Promise<void> {
  // For messages.
  const named = contents.map((content) => ({ ...content, path: content.hash }));
  const take = ({ hash }: Named, bytes: Uint8Array): void => {
    try {
      keep(hash, bytes);
    } catch (error) {
      throw localProblem(error, 'the cache of this node');
    }
  };
  const flawed = undefined;
  return inParallel(packed(named), PACKS_AT_ONCE, (pack) =>
    receivePack(access, pack, { take, flawed }),
  );
}

interface PackFlaws<T> {
  readonly flawed: ((wanted: T, problem: Failure) => void) | undefined;
}

interface Taking<T> extends PackFlaws<T> {
  readonly take: (wanted: T, bytes: Uint8Array) => void;
}

/** Contents by their hash. */
export type SmallContents = ReadonlyMap<BlobHash, Uint8Array>;

/** Contents that are so small, and few, that they stay in memory. */
export async function fetchSmall(
  access: HeadAccess,
  contents: readonly Named[],
): Promise<SmallContents> {
  const came = new Map<BlobHash, Uint8Array>();
  if (contents.length === 0) return came;
  const take = ({ hash }: Named, bytes: Uint8Array) => void came.set(hash, bytes);
  await receivePack(access, contents, { take, flawed: undefined });
  return came;
}

async function receivePack<T extends Named>(
  access: HeadAccess,
  pack: readonly T[],
  taking: Taking<T>,
): Promise<void> {
  const note = 'Going on with small files as soon as it can.';
  const left = [...pack];
  while (left.length > 0) {
    const before = left.length;
    try {
      await access.patiently(note, () => fetchPack(access, left, taking));
    } catch (error) {
      if (isDropped(error, left, taking)) continue;
      const isAway = error instanceof Failure && error.kind === 'unavailable';
      if (!isAway || left.length === before) throw error;
    }
  }
}

/** One that is not there is refused before the others are sent: they are asked for without it. */
function isDropped<T extends Named>(error: unknown, left: T[], { flawed }: Taking<T>): boolean {
  if (!(error instanceof Failure) || flawed === undefined) return false;
  const { hash: gone, what = '' } = error.details;
  // Larger than any that is asked for here: the head says so in words that begin with the hash.
  const at = left.findIndex(({ hash }) => hash === gone || what.startsWith(hash));
  const wanted = left[at];
  if (wanted === undefined) return false;
  left.splice(at, 1);
  flawed(wanted, flawOf(error) ?? failure(refuse('blob.damaged', wanted)));
  return true;
}

/** Takes from the front of `left` what has come. */
async function fetchPack<T extends Named>(
  access: HeadAccess,
  left: T[],
  { take, flawed }: Taking<T>,
): Promise<void> {
  const api = await access.head();
  const hashes = left.map(({ hash }) => hash);
  const answer = await api.stream('readBlobs', { body: { hashes }, headers: READS });
  const pieces = untilStuck(answer, api.address);
  for await (const { hash, bytes } of readFrames(pieces)) {
    const [wanted] = left;
    const isWhole = hashAtOnce('sha256', bytes, 'hex') === hash;
    // Only made when it is needed: an error takes longer than a small content.
    const damaged = () =>
      failure(refuse('blob.damaged', { hash, path: wanted?.path ?? 'nothing' }));
    if (wanted === undefined || hash !== wanted.hash || (!isWhole && flawed === undefined)) {
      answer.destroy();
      throw damaged();
    }
    if (isWhole) take(wanted, bytes);
    else flawed?.(wanted, damaged());
    left.shift();
  }
  if (left.length === 0) return;
  const cause = 'the connection ended early';
  throw failure(refuse('head.unreachable', { address: api.address, cause }));
}

/** At once: handing a small file to a pool of threads would take longer than writing it. */
function writeSmall({ path, hash, mode }: Wanted, bytes: Uint8Array): void {
  const aside = asideOf({ path, hash });
  try {
    const fd = openSync(aside, ANEW, mode ?? 0o666);
    try {
      writeFileSync(fd, bytes);
      if (mode !== undefined) fchmodSync(fd, mode);
    } finally {
      closeSync(fd);
    }
    renameSync(aside, path);
  } catch (error) {
    throw localProblem(error, path);
  }
}
