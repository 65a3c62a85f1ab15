// One file of captured output as a request means it, how far its task is, and copying from it.

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { TaskPlace } from '../../../core/model/ids.ts';
import { endedAs } from '../../answers/job-state.ts';
import type { LogPlace } from '../../logs/log-path.ts';
import type { Call } from '../call.ts';
import { findJob } from '../find-job.ts';
import type { Services } from '../services.ts';
import { viewTasks } from './list-tasks.ts';

const CHUNK_BYTES = 256 * 1024;
/** An agent sends the last piece at once; after this long it is taken to have been lost. */
export const TAIL_WAIT_MS = 5000;

/** A task in the state's terms, and the file that is asked for. */
export interface Target {
  readonly place: TaskPlace;
  readonly index: number;
  readonly query: Call<'readLogs'>['query'];
  readonly signal: AbortSignal;
}

export interface Progress {
  /** The last start; 0 before the first. */
  readonly epoch: number;
  readonly isDone: boolean;
  /** Done for so long that no more output can be on its way. */
  readonly isLongOver: boolean;
}

/** Where the task stands now. */
export async function progress({ engine }: Services, { place, index }: Target): Promise<Progress> {
  const job = engine.state.jobs.get(place.jobId);
  const active = job?.active.get(index);
  if (active !== undefined) return { epoch: active.epoch, isDone: false, isLongOver: false };
  if (job !== undefined && endedAs(job, index) === undefined) {
    return { epoch: 0, isDone: false, isLongOver: false };
  }
  await engine.settled();
  const found = await findJob(engine, place.jobId);
  const [task] = found.ok ? await viewTasks(engine, found.value, [index]) : [];
  const endedAt = task?.endedAt ?? 0;
  const isLongOver = engine.now() - endedAt > TAIL_WAIT_MS;
  return { epoch: task?.epoch ?? 0, isDone: true, isLongOver };
}

/** The file of one start. */
export function logPlace({ place, query }: Target, epoch: number): LogPlace {
  const { nodeRank = 0, rank = 0, stream = 'stdout' } = query;
  return { place, epoch, nodeRank, rank, stream };
}

interface Piece {
  readonly log: LogPlace;
  readonly from: number;
  readonly end: number;
  readonly signal: AbortSignal;
}

/** In pieces, at the reader's pace: memory stays bounded however large the file is. */
export async function copy(
  { logs }: Services,
  response: ServerResponse,
  { log, from, end, signal }: Piece,
): Promise<void> {
  for (let at = from; at < end && !signal.aborted; ) {
    const bytes = await logs.read(log, at, Math.min(CHUNK_BYTES, end - at));
    if (bytes.length === 0) {
      response.destroy(); // Removed while being read: the cut says that it is not complete.
      return;
    }
    at += bytes.length;
    if (!response.write(bytes)) await drained(response, signal);
  }
}

async function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  try {
    await once(response, 'drain', { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
