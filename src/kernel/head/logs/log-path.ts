// Where a file of captured output is kept: <directory>/<job id div 1000>/<job id>/<name>. Built
// from checked numbers only, so that no message of an agent can name a path outside.

import { err, ok, type Result } from '../../base/result.ts';
import { type JobId, parseTaskId, type TaskPlace } from '../../model/ids.ts';
import type { LogName, Stream } from '../../wire/messages.ts';

/** Directories stay small enough to list: a thousand jobs to a bucket. */
export const JOBS_PER_BUCKET = 1000;

/** A LogName with its epoch id taken apart. */
export interface LogPlace {
  readonly place: TaskPlace;
  readonly epoch: number;
  readonly nodeRank: number;
  readonly rank: number;
  readonly stream: Stream;
}

/** Checks every part of a name that came from an agent. */
export function readLogName(name: LogName): Result<LogPlace, string> {
  const [task = '', epochText = '', ...rest] = String(name.epochId).split('#');
  const place = parseTaskId(task);
  if (!place.ok) return place;
  const epoch = Number(epochText);
  const { nodeRank, rank, stream } = name;
  if (rest.length > 0 || !isCount(epoch) || epoch < 1) return err(`no epoch: '${name.epochId}'`);
  if (!isCount(nodeRank) || !isCount(rank)) return err('ranks are whole numbers from 0');
  if (stream !== 'stdout' && stream !== 'stderr') return err(`no stream: '${String(stream)}'`);
  return ok({ place: place.value, epoch, nodeRank, rank, stream });
}

/** `7.2.0.1.out`: index (`-` for a plain job), epoch, node rank, process rank. */
function logFileName(log: LogPlace): string {
  const index = log.place.index === null ? '-' : String(log.place.index);
  const suffix = log.stream === 'stdout' ? 'out' : 'err';
  return `${index}.${log.epoch}.${log.nodeRank}.${log.rank}.${suffix}`;
}

export function bucketOf(jobId: JobId): string {
  return String(Math.floor(jobId / JOBS_PER_BUCKET));
}

/** From the directory of all logs. */
export function logPath(log: LogPlace): string {
  const { jobId } = log.place;
  return `${bucketOf(jobId)}/${jobId}/${logFileName(log)}`;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < 1e9;
}
