// The head's rooms for files, on the disk beside its journal.

import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { References } from '../kernel/files/blobs/references.ts';
import { Archive } from '../kernel/head/archive/archive.ts';
import { BlobStore } from '../kernel/head/blobs/blob-store.ts';
import { JobFiles } from '../kernel/head/files/job-files.ts';
import type { LogFiles } from '../kernel/head/logs/log-files.ts';
import type { HeadPart } from '../kernel/head/part.ts';
import { BLOB_DISK_FREE_BYTES_MIN } from '../kernel/model/limits.ts';
import { systemClock } from '../kernel/os/clock.ts';
import type { Log } from '../kernel/ports/log.ts';
import type { HeadOptions } from './head-options.ts';

/** Share of the room for what jobs leave, on a head for several users: nobody can send it full. */
const OUTPUT_SHARE = 0.1;

/** Share of the room that one user may fill, on a head for several users. */
const USER_SHARE = 0.25;

type Sized = Pick<HeadOptions, 'directory' | 'blobBytesMax' | 'multiUser'>;

export interface HeadFiles {
  readonly blobs: BlobStore;
  readonly jobFiles: JobFiles;
  readonly archive: Archive;
}

/** `certainNow`: `Engine.certainNow`. */
export function openHeadFiles(
  options: HeadOptions,
  ports: {
    readonly logs: LogFiles;
    readonly log: Log;
    readonly certainNow: () => number;
    readonly parts: readonly HeadPart[];
  },
): HeadFiles {
  const { logs, log, certainNow, parts } = ports;
  const names = new References();
  const blobs = new BlobStore({
    directory: join(options.directory, 'blobs'),
    bytesMax: options.blobBytesMax,
    outputBytesMin: outputBytesMin(options),
    userBytesMax: userBytesMax(options),
    diskFreeMin: BLOB_DISK_FREE_BYTES_MIN,
    names,
    namesFilled: () => jobFiles.filled(),
    givers: [
      {
        mayGive: (user) => (jobFiles.hasIdle(user) ? Number.POSITIVE_INFINITY : 0),
        give: (user) => jobFiles.relinquish(user),
      },
      {
        mayGive: (user) => archive.bytesOf(user),
        give: (user, bytes) => archive.relinquish(user, bytes),
      },
    ],
    clock: systemClock,
    certainNow,
    log,
  });
  const jobFiles = new JobFiles({ blobs, names, log });
  const archive = new Archive({
    directory: join(options.directory, 'archive'),
    bytesMax: options.archiveBytesMax,
    ageMs: options.archiveAgeMs,
    shownIn: options.resultsIn,
    shelving: parts.find(({ shelving }) => shelving !== undefined)?.shelving,
    blobs,
    names,
    logs,
    clock: systemClock,
    certainNow,
    log,
  });
  return { blobs, jobFiles, archive };
}

/** On a head for one user none: they would only keep it from themselves. */
export function outputBytesMin(options: Sized): number {
  return options.multiUser ? Math.floor(roomBytes(options) * OUTPUT_SHARE) : 0;
}

function userBytesMax(options: HeadOptions): number {
  const { multiUser, userFilesBytesMax = null } = options;
  if (userFilesBytesMax !== null) return userFilesBytesMax;
  if (!multiUser) return Number.POSITIVE_INFINITY;
  return Math.floor(roomBytes(options) * USER_SHARE);
}

/** What the disk has where that is less than `head.blobs_max`: else one user could fill it. */
function roomBytes({ directory, blobBytesMax }: Sized): number {
  const { blocks, bsize } = statfsSync(directory);
  return Math.min(blobBytesMax, Math.max(0, blocks * bsize - BLOB_DISK_FREE_BYTES_MIN));
}
