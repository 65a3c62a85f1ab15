// Copies captured output to a sink while it is written, and goes on where it was after a cut.

import { refuse } from '../../core/model/errors.ts';
import { type Failure, failure } from '../../core/model/failure.ts';
import type { Context } from '../context.ts';
import { withPatience } from './retry.ts';

export interface LogSource {
  readonly id: string;
  readonly stream: 'stdout' | 'stderr';
  readonly nodeRank?: number;
  readonly rank?: number;
  readonly epoch?: number;
  readonly follow: boolean;
  readonly offset?: number;
  readonly limit?: number;
}

/** What the head says about a file of output. */
export interface Copied {
  readonly bytes: number;
  /** Left out by the limit on output. */
  readonly dropped: number;
}

/** `LOG_HEADERS.dropped` of api/jobs.ts, which would load the schema library with it. */
const DROPPED = 'weft-log-dropped';
const HEAD_AWAY_MAX_MS = 120_000;

/** Resolves when all is copied; with `follow`, when the task is done and its output complete. */
export async function copyLog(
  context: Context,
  source: LogSource,
  write: (bytes: Uint8Array) => void,
): Promise<Copied> {
  const { id, offset: start = 0, ...query } = source;
  const api = await context.api();
  let offset = start;
  const patience = { totalMs: HEAD_AWAY_MAX_MS, note: 'Waiting for the head to come back.' };
  return withPatience(context, patience, async () => {
    const stream = await api.stream('readLogs', {
      params: { id },
      query: { ...query, offset },
      timeoutMs: source.follow ? 0 : 30_000,
    });
    try {
      for await (const chunk of stream) {
        offset += (chunk as Buffer).length;
        write(chunk as Buffer);
      }
    } catch (cause) {
      throw cutShort(cause as Error, api.address);
    }
    const said = stream.trailers[DROPPED] ?? stream.headers[DROPPED];
    return { bytes: offset - start, dropped: Number(said ?? 0) };
  });
}

function cutShort(cause: Error, address: string): Failure {
  return failure(refuse('head.unreachable', { address, cause: cause.message }));
}
