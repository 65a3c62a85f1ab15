// What a job of a batch has printed, beside its files in the archive.

import { createHash } from 'node:crypto';
import { closeSync, linkSync, openSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { JobManifest } from '../../files/job-manifest.ts';
import { STDERR_FILE, STDOUT_FILE } from '../../files/manifest.ts';
import type { BlobHash } from '../../model/blob.ts';
import type { JobId } from '../../model/ids.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Stream } from '../../wire/messages.ts';
import { codeOf } from '../disk/disk-errors.ts';
import type { LogFiles, LogStatus } from '../logs/log-files.ts';
import type { LogPlace } from '../logs/log-path.ts';

export type JobLogs = Pick<LogFiles, 'isSilent' | 'linkTo' | 'read' | 'status' | 'watch'>;

type Start = Pick<JobManifest, 'jobId' | 'index' | 'epoch'>;

const STREAMS = ['stdout', 'stderr'] as const;

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

/** How an output is waited for. */
export interface Wait {
  readonly clock: Pick<Clock, 'after'>;
  /** A log is given up when nothing of it has come for this long. */
  readonly quietMs: number;
  /** The same for one of which nothing has come at all. */
  readonly silentMs: number;
  /** Resolves when nobody waits any more. */
  readonly over: Promise<void>;
}

/** Resolves when all output of a start is there, or no more of it comes. */
export async function logsArrived(logs: JobLogs, start: Start, wait: Wait): Promise<void> {
  for (const stream of STREAMS) await logArrived(logs, placeOf(start, stream), wait);
}

/** However long it takes as long as it comes. */
async function logArrived(logs: JobLogs, place: LogPlace, wait: Wait): Promise<void> {
  for (let isOver = false; !isOver; ) {
    const change = Promise.withResolvers<boolean>();
    // Listen first, look second: what comes in between is not missed.
    const unwatch = logs.watch(place, () => change.resolve(false));
    const status = await logs.status(place);
    isOver = isWhole(status);
    if (!isOver) {
      const ms = status.size > 0 ? wait.quietMs : wait.silentMs;
      const timer = wait.clock.after(ms, () => change.resolve(true));
      isOver = await Promise.race([change.promise, wait.over.then(() => true)]);
      timer.cancel();
    }
    unwatch();
  }
}

/** One that an earlier head has heard the end of lies there closed. */
function isWhole({ ended, size, isOpen }: LogStatus): boolean {
  return ended || (size > 0 && !isOpen);
}

/** In words, what of an output is not there; undefined: nothing, as far as this head knows. */
async function lackOf(logs: JobLogs, place: LogPlace, isNew: boolean): Promise<string | undefined> {
  const status = await logs.status(place);
  if (isWhole(status)) return undefined;
  const words = place.stream === 'stdout' ? 'standard output' : 'standard error';
  if (status.size > 0) return `The end of ${words} has not come from its node.`;
  // Of most that a head before this one has had there is nothing more to say.
  return isNew ? `Nothing has come of ${words}, nor word that there is none.` : undefined;
}

export interface OutputText {
  readonly sha256: BlobHash;
  readonly size: number;
}

/**
 * Writes both streams into one file, under the headings that the seed gave them, and what lacks.
 * `isNew`: this head has seen its end.
 */
export async function writeOutputText(
  { logs, isNew }: { readonly logs: JobLogs; readonly isNew: boolean },
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
    const lack = [];
    for (const stream of STREAMS) lack.push(await lackOf(logs, placeOf(start, stream), isNew));
    const lines = lack.filter((line) => line !== undefined);
    if (lines.length > 0) await write(Buffer.from(`\nWEFT:\n${lines.join('\n')}\n`));
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

// One empty file under very many names: most tasks print nothing, and a file of its own for each of
// their streams would cost more than all else that is archived of them.

/** `file`: where it is, or will be. */
export function linkEmpty(file: string, to: string): void {
  try {
    linkSync(file, to);
  } catch (error) {
    // It is not there yet, or has as many names as a file may have.
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'EMLINK') throw error;
    rmSync(file, { force: true });
    closeSync(openSync(file, 'wx', 0o600));
    linkSync(file, to);
  }
}
