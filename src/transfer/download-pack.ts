// Fetches many small contents in one answer, each verified before it gets its name.

import { hash as hashAtOnce } from 'node:crypto';
import { closeSync, constants, fchmodSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { readFrames } from '../api/blob-frames.ts';
import type { BlobHash } from '../core/model/blob.ts';
import { refuse } from '../core/model/errors.ts';
import { Failure, failure } from '../core/model/failure.ts';
import { asideOf, localProblem, untilStuck, type Wanted } from './arriving.ts';
import type { Carrier } from './carrier.ts';

/** Never through a link that somebody has put there. */
const ANEW = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

/** A content, and what it is for. */
type Named = Pick<Wanted, 'hash' | 'path'>;

/** What has come whole stays; the rest is asked for again as long as that becomes less. */
export function downloadPack(
  carrier: Carrier,
  pack: readonly Wanted[],
  moved: (bytes: number) => void,
): Promise<void> {
  return receivePack(carrier, pack, (wanted, bytes) => {
    writeSmall(wanted, bytes);
    moved(bytes.length);
  });
}

/** Contents that are so small, and few, that they stay in memory. */
export async function fetchSmall(
  carrier: Carrier,
  contents: readonly Named[],
): Promise<ReadonlyMap<BlobHash, Uint8Array>> {
  const came = new Map<BlobHash, Uint8Array>();
  if (contents.length === 0) return came;
  await receivePack(carrier, contents, ({ hash }, bytes) => void came.set(hash, bytes));
  return came;
}

async function receivePack<T extends Named>(
  carrier: Carrier,
  pack: readonly T[],
  take: (wanted: T, bytes: Uint8Array) => void,
): Promise<void> {
  const note = 'Going on with small files as soon as it can.';
  const left = [...pack];
  while (left.length > 0) {
    const before = left.length;
    try {
      await carrier.patiently(note, () => fetchPack(carrier, left, take));
    } catch (error) {
      const isAway = error instanceof Failure && error.kind === 'unavailable';
      if (!isAway || left.length === before) throw error;
    }
  }
}

/** Takes from the front of `left` what has come. */
async function fetchPack<T extends Named>(
  carrier: Carrier,
  left: T[],
  take: (wanted: T, bytes: Uint8Array) => void,
): Promise<void> {
  const api = await carrier.head();
  const hashes = left.map(({ hash }) => hash);
  const answer = await api.stream('readBlobs', { body: { hashes } });
  const pieces = untilStuck(answer, api.address);
  for await (const { hash, bytes } of readFrames(pieces)) {
    const [wanted] = left;
    const actual = hashAtOnce('sha256', bytes, 'hex');
    if (wanted === undefined || hash !== wanted.hash || actual !== hash) {
      answer.destroy();
      const path = wanted?.path ?? 'nothing';
      throw failure(refuse('blob.damaged', { hash, path }));
    }
    take(wanted, bytes);
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
