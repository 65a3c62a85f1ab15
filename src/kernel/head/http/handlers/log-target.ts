// One file of captured output as a request means it, how far its task is, and copying from it.

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { NodeName, TaskPlace } from '../../../model/ids.ts';
import type { LostRecords } from '../../../model/loss.ts';
import { endedAs } from '../../answers/job-state.ts';
import type { LogPlace } from '../../logs/log-path.ts';
import type { Call } from '../call.ts';
import { findJob } from '../find-job.ts';
import type { Services } from '../services.ts';
import { viewTasks } from './list-tasks.ts';

const CHUNK_BYTES = 256 * 1024;

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
  /** When; null: it is not, or nobody knows. */
  readonly endedAt: number | null;
  /** The node that has what is not here yet is there. */
  readonly isConnected: boolean;
  /** The task ended in a time whose records the head has lost: its output may be lost as well. */
  readonly isDoubted: boolean;
}

/** Where the task stands now. */
export async function progress(
  { engine }: Pick<Services, 'engine'>,
  { place, index, query }: Pick<Target, 'place' | 'index' | 'query'>,
): Promise<Progress> {
  const job = engine.state.jobs.get(place.jobId);
  const active = job?.active.get(index);
  const live = { isDone: false, endedAt: null, isConnected: true, isDoubted: false };
  if (active !== undefined) return { epoch: active.epoch, ...live };
  if (job !== undefined && endedAs(job, index) === undefined) return { epoch: 0, ...live };
  await engine.settled();
  const found = await findJob(engine, place.jobId);
  const [task] = found.ok ? await viewTasks(engine, found.value, [index]) : [];
  const node = task?.nodes[query.nodeRank ?? 0];
  const isConnected =
    node !== undefined && engine.state.nodes.get(node as NodeName)?.connected === true;
  // What never ran has printed nothing that could be on its way.
  const endedAt = task?.startedAt == null ? 0 : (task.endedAt ?? 0);
  const isDoubted = engine.state.losses.some((loss) => isWithin(loss, endedAt));
  return { epoch: task?.epoch ?? 0, isDone: true, endedAt, isConnected, isDoubted };
}

function isWithin({ since, at }: LostRecords, endedAt: number): boolean {
  return since !== undefined && since < endedAt && endedAt <= at;
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
