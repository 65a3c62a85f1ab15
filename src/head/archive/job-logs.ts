// What a job of a batch has printed, beside its files in the archive.

import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { JobManifest } from '../../core/batch/job-manifest.ts';
import { STDERR_FILE, STDOUT_FILE } from '../../core/batch/manifest.ts';
import type { BlobHash } from '../../core/model/blob.ts';
import type { JobId } from '../../core/model/ids.ts';
import type { Stream } from '../../wire/messages.ts';
import type { LogFiles } from '../logs/log-files.ts';
import type { LogPlace } from '../logs/log-path.ts';
import { linkEmpty } from './empty-file.ts';

export type JobLogs = Pick<LogFiles, 'isSilent' | 'linkTo' | 'read' | 'status' | 'watch'>;

type Start = Pick<JobManifest, 'jobId' | 'index' | 'epoch'>;

/** Read at a time. */
const CHUNK_BYTES = 65_536;

/** Into the folder of the job, which is being made. `empty`: where the one for nothing is. */
export async function linkLogs(
  { logs, empty }: { readonly logs: JobLogs; readonly empty: string },
  start: Start,
  folder: string,
): Promise<void> {
  for (const [stream, name] of [
    ['stdout', STDOUT_FILE],
    ['stderr', STDERR_FILE],
  ] as const) {
    const [place, to] = [placeOf(start, stream), path.join(folder, name)];
    if (logs.isSilent(place)) linkEmpty(empty, to);
    else await logs.linkTo(place, to);
  }
}

/** Resolves when all output of a start is there, or `late` does. */
export async function logsArrived(logs: JobLogs, start: Start, late: Promise<void>): Promise<void> {
  let isLate = false;
  const lateness = late.then(() => {
    isLate = true;
  });
  for (const stream of ['stdout', 'stderr'] as const) {
    const place = placeOf(start, stream);
    while (!isLate) {
      const change = Promise.withResolvers<void>();
      // Listen first, look second: what comes in between is not missed.
      const unwatch = logs.watch(place, change.resolve);
      const { ended } = await logs.status(place);
      if (!ended) await Promise.race([change.promise, lateness]);
      unwatch();
      if (ended) break;
    }
  }
}

export interface OutputText {
  readonly sha256: BlobHash;
  readonly size: number;
}

/** Writes both streams into one file, under the headings that the seed gave them. */
export async function writeOutputText(
  logs: JobLogs,
  start: Start,
  file: string,
): Promise<OutputText> {
  const hash = createHash('sha256');
  const handle = await open(file, 'w', 0o600);
  let size = 0;
  const write = async (bytes: Uint8Array): Promise<void> => {
    hash.update(bytes);
    size += bytes.length;
    await handle.writeFile(bytes);
  };
  try {
    await write(Buffer.from('STDOUT:\n'));
    await copyLog(logs, placeOf(start, 'stdout'), write);
    await write(Buffer.from('\nSTDERR:\n'));
    await copyLog(logs, placeOf(start, 'stderr'), write);
  } finally {
    await handle.close();
  }
  return { sha256: hash.digest('hex') as BlobHash, size };
}

async function copyLog(
  logs: JobLogs,
  place: LogPlace,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  for (let offset = 0; ; ) {
    const bytes = await logs.read(place, offset, CHUNK_BYTES);
    if (bytes.length === 0) return;
    await write(bytes);
    offset += bytes.length;
  }
}

function placeOf({ jobId, index, epoch }: Start, stream: Stream): LogPlace {
  return { place: { jobId: jobId as JobId, index }, epoch, nodeRank: 0, rank: 0, stream };
}
