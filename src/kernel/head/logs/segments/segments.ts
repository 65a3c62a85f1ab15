// The segments of all jobs: those that were asked of lately know where everything in them lies.

import path from 'node:path';
import type { JobId } from '../../../model/ids.ts';
import type { Log } from '../../../ports/log.ts';
import { bucketOf, type LogPlace } from '../log-path.ts';
import type { SmallPlace } from './entry.ts';
import { type Extent, Segment } from './segment.ts';

/** Beside the job's other files of output. */
export const SEGMENT = 'segment';

/** Outputs whose place is known in memory, of all jobs but the one that was last asked of. */
const KNOWN_MAX = 200_000;
const OPEN_MAX = 1000;

export interface SmallOutput extends Extent {
  readonly read: () => Promise<Uint8Array>;
}

export class Segments {
  readonly #directory: string;
  readonly #log: Log;
  /** The one that was asked of last is the last. */
  readonly #open = new Map<number, Segment>();

  constructor(directory: string, log: Log) {
    this.#directory = directory;
    this.#log = log;
  }

  /** Returns null when it is in no segment. */
  async find(log: LogPlace): Promise<SmallOutput | null> {
    const small = smallOf(log);
    if (small === null) return null;
    const segment = this.#of(log.place.jobId);
    const extent = await segment.find(small);
    if (extent === null) return null;
    const { from, length } = extent;
    return { from, length, read: () => segment.read(extent) };
  }

  /** Resolves, once it is on the disk, with how many bytes that took. No bytes: a file has them. */
  append(log: LogPlace, bytes: Uint8Array): Promise<number> {
    const small = smallOf(log);
    if (small === null) return Promise.reject(new Error('a plain job has no segment'));
    return this.#of(log.place.jobId).append(small, bytes);
  }

  /** Forgets a job whose file is about to be removed. */
  forget(jobId: number): void {
    this.#open.delete(jobId);
  }

  #of(jobId: JobId): Segment {
    const known = this.#open.get(jobId);
    const isThere = known !== undefined && !known.isBroken;
    if (!isThere) this.#makeRoom();
    const segment = isThere ? known : new Segment(this.#fileOf(jobId), this.#log);
    this.#open.delete(jobId);
    this.#open.set(jobId, segment);
    return segment;
  }

  #fileOf(jobId: JobId): string {
    return path.join(this.#directory, segmentPath(jobId));
  }

  #makeRoom(): void {
    let known = 0;
    for (const { size } of this.#open.values()) known += size;
    for (const [jobId, segment] of this.#open) {
      if (known <= KNOWN_MAX && this.#open.size < OPEN_MAX) return;
      if (segment.isBusy) continue;
      known -= segment.size;
      this.#open.delete(jobId);
    }
  }
}

/** From the directory of all logs. */
export function segmentPath(jobId: JobId): string {
  return path.join(bucketOf(jobId), String(jobId), SEGMENT);
}

function smallOf({ place: { index }, ...rest }: LogPlace): SmallPlace | null {
  if (index === null) return null;
  const { epoch, nodeRank, rank, stream } = rest;
  return { index, epoch, nodeRank, rank, stream };
}
