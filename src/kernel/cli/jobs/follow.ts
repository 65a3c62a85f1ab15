// Copies captured output to a sink while it is written, and goes on where it was after a cut.

import type { Answer } from '../../api/exchange.ts';
import { isLacking, LOG_HEADERS } from '../../api/log-headers.ts';
import { refuse } from '../../model/errors.ts';
import { type Failure, failure } from '../../model/failure.ts';
import { patienceOfWait, withPatience } from '../connection/patience.ts';
import type { Context } from '../context.ts';
import { logSize } from './log-size.ts';

export interface LogSource {
  readonly id: string;
  readonly stream: 'stdout' | 'stderr';
  readonly nodeRank?: number;
  readonly rank?: number;
  readonly epoch?: number;
  readonly follow: boolean;
  readonly offset?: number;
  readonly limit?: number;
  /** Only so many bytes at the end of what is there. */
  readonly last?: number;
}

/** What the head says about a file of output. */
export interface Copied {
  readonly bytes: number;
  /** Before where it began. */
  readonly before: number;
  /** Left out by the limit on output. */
  readonly dropped: number;
  /** False: the task is over, and the rest of its output has not come. */
  readonly isWhole: boolean;
}

/** For who reads what is there; who follows a task waits as long as that goes on. */
const HEAD_AWAY_MAX_MS = 120_000;
/** Mostly the rest is there by then, and nobody has to be told. */
const REST_TOLD_MS = 1000;

/** Resolves when all is copied; with `follow`, when the task is done and its output complete. */
export async function copyLog(
  context: Context,
  source: LogSource,
  write: (bytes: Uint8Array) => void,
): Promise<Copied> {
  const { id, last, follow, ...which } = source;
  // Without a word about it the head sends all of the output of a task that is done.
  const query = follow ? { ...which, follow } : which;
  const api = await context.api();
  let start = last === undefined ? (which.offset ?? 0) : null;
  let offset = start ?? 0;
  const note = 'Waiting for the head to come back.';
  const patience = follow ? patienceOfWait(null) : { totalMs: HEAD_AWAY_MAX_MS, note };
  return withPatience(context, patience, async () => {
    if (start === null) {
      const { limit: _limit, offset: _offset, ...one } = which;
      start = Math.max(0, (await logSize(api, id, one)) - (last ?? 0));
      offset = start;
    }
    const from = start;
    const stream = await api.stream('readLogs', {
      params: { id },
      query: { ...query, offset },
      timeoutMs: follow ? 0 : 30_000,
    });
    const telling = follow ? null : tellRest(context, id, stream);
    try {
      for await (const chunk of stream) {
        offset += (chunk as Buffer).length;
        write(chunk as Buffer);
      }
    } catch (cause) {
      throw cutShort(cause as Error, api.address);
    } finally {
      clearTimeout(telling ?? undefined);
    }
    const said = stream.trailers[LOG_HEADERS.dropped] ?? stream.headers[LOG_HEADERS.dropped];
    const isWhole = !isLacking(stream);
    return { bytes: offset - from, before: from, dropped: Number(said ?? 0), isWhole };
  });
}

/** The head sends what comes of a task that is over; who waits for it is told what for. */
function tellRest(context: Context, id: string, { headers }: Answer): NodeJS.Timeout | null {
  if (headers['trailer'] === undefined) return null;
  const words = `${id} is done; waiting for the rest of its output, which is on its way`;
  return setTimeout(() => context.note(words), REST_TOLD_MS);
}

function cutShort(cause: Error, address: string): Failure {
  return failure(refuse('head.unreachable', { address, cause: cause.message }));
}
