// Fetches many small contents in one answer, each verified before it gets its name.

import { createHash } from 'node:crypto';
import { closeSync, constants, fchmodSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { readFrames } from '../api/blob-frames.ts';
import { refuse } from '../core/model/errors.ts';
import { Failure, failure } from '../core/model/failure.ts';
import { asideOf, localProblem, untilStuck, type Wanted } from './arriving.ts';
import type { Carrier } from './carrier.ts';

/** Never through a link that somebody has put there. */
const ANEW = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

/** What has come whole stays; the rest is asked for again as long as that becomes less. */
export async function downloadPack(
  carrier: Carrier,
  pack: readonly Wanted[],
  moved: (bytes: number) => void,
): Promise<void> {
  const note = 'Going on with small files as soon as it can.';
  const left = [...pack];
  while (left.length > 0) {
    const before = left.length;
    try {
      await carrier.patiently(note, () => fetchPack(carrier, left, moved));
    } catch (error) {
      const isAway = error instanceof Failure && error.kind === 'unavailable';
      if (!isAway || left.length === before) throw error;
    }
  }
}

/** Takes from the front of `left` what has come. */
async function fetchPack(
  carrier: Carrier,
  left: Wanted[],
  moved: (bytes: number) => void,
): Promise<void> {
  const api = await carrier.head();
  const hashes = left.map(({ hash }) => hash);
  const answer = await api.stream('readBlobs', { body: { hashes } });
  const pieces = untilStuck(answer, api.address);
  for await (const { hash, bytes } of readFrames(pieces)) {
    const [wanted] = left;
    const actual = createHash('sha256').update(bytes).digest('hex');
    if (wanted === undefined || hash !== wanted.hash || actual !== hash) {
      answer.destroy();
      const path = wanted?.path ?? 'nothing';
      throw failure(refuse('blob.damaged', { hash, path }));
    }
    writeSmall(wanted, bytes);
    left.shift();
    moved(bytes.length);
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
