// Copies the captured output of a whole job: all its tasks, processes and streams, each line with a
// label where there is more than one process.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../../api/exchange.ts';
import { isLacking, LOG_HEADERS } from '../../api/log-headers.ts';
import { type Interval, IntervalSet } from '../../base/interval-set.ts';
import { formatBytes } from '../../base/size.ts';
import { refuse } from '../../model/errors.ts';
import { type Failure, failure, usage } from '../../model/failure.ts';
import { formatItem } from '../../model/items.ts';
import type { Item, OutputFiles } from '../../model/job.ts';
import { patienceOfWait, withPatience } from '../connection/patience.ts';
import type { Context } from '../context.ts';
import { cutLine } from '../output/cut-line.ts';
import { printable } from '../output/table.ts';
import { LineLabeller } from './line-labeller.ts';
import { logSize } from './log-size.ts';

export const STREAMS = ['stdout', 'stderr'] as const;
export type Stream = (typeof STREAMS)[number];

/** Each holds a connection open while it runs; the next one begins when one has ended. */
const FOLLOWED_AT_ONCE_MAX = 64;
/** Asked for ahead where all is there: the way to a head far off, or busy, is not paid per task. */
const COPIED_AT_ONCE_MAX = 16;
/** Longer output is asked for when its turn comes. */
const AHEAD_MAX_BYTES = 64 * 1024;

export interface FollowedJob {
  readonly id: string;
  readonly nodeCount: number;
  readonly processesPerNode: number;
  /** Streams with a file of their own are not captured: there is nothing to copy. */
  readonly files: OutputFiles;
  /** Tasks of an array, `0-99,200`; null for a job with one task. */
  readonly array: string | null;
  /** Those of its tasks that are shown before the others. */
  readonly first?: readonly number[];
  /** Items of its tasks: their lines name the point of the sweep. */
  readonly items?: ReadonlyMap<number, Item>;
}

/** Which of its processes, runs and bytes; what is absent is all of it, of runs the last. */
export interface OutputRange {
  readonly nodeRank?: number;
  readonly rank?: number;
  readonly epoch?: number;
  readonly offset?: number;
  readonly limit?: number;
  /** Only so many bytes at the end of each stream. */
  readonly last?: number;
}

interface Source extends Pick<OutputRange, 'epoch' | 'offset' | 'limit' | 'last'> {
  readonly id: string;
  readonly stream: Stream;
  readonly nodeRank: number;
  readonly rank: number;
  readonly label: string | null;
}

/** Resolves when every process is done and its output is here. */
export async function followJob(context: Context, job: FollowedJob): Promise<void> {
  const lacking = await copyJob(context, job, { follow: true, streams: STREAMS });
  for (const { message } of lacking.map(lackingOf)) context.note(message);
}

/** What is wrong where not all of the output of a task has come. */
export function lackingOf(task: string): Failure {
  return failure(refuse('log.lacking', { task }));
}

/**
 * Like `followJob`, or only what is there now; with one stream it goes to standard output. Gives
 * the tasks of which not all has come.
 */
export async function copyJob(
  context: Context,
  job: FollowedJob,
  how: {
    readonly follow: boolean;
    readonly streams: readonly Stream[];
    readonly part?: OutputRange;
  },
): Promise<readonly string[]> {
  const captured = how.streams.filter((stream) => job.files[stream] === undefined);
  const sources = sourcesOf(job, captured, how.part ?? {});
  let [dropped, before] = [0, 0];
  const lacking: string[] = [];
  // What is there already is copied in order; what is still written comes as it comes.
  const workers = how.follow ? FOLLOWED_AT_ONCE_MAX : COPIED_AT_ONCE_MAX;
  let turn = Promise.resolve();
  // One that is refused ends the command, and so cuts the others off.
  let hasFailed = false;
  const isOver = () => hasFailed;
  const work = async () => {
    for (let next = sources.next(); !next.done; next = sources.next()) {
      const one = { ...how, isOnly: how.streams.length === 1, turn, isOver };
      const copying = copyOne(context, next.value, one);
      if (!how.follow) turn = copying.then(() => {});
      turn.catch(() => {}); // `copying` tells
      const copied = await copying.catch((error: Error) => {
        hasFailed = true;
        throw error;
      });
      dropped += copied.dropped;
      before += copied.before;
      if (!copied.isWhole) lacking.push(next.value.id);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  if (how.part?.last !== undefined && before > 0) {
    context.note(`${formatBytes(before)} before that are left out by --last`);
  }
  if (dropped > 0) context.note(droppedWords(dropped));
  return [...new Set(lacking)];
}

/** For people, when output was cut. */
function droppedWords(bytes: number): string {
  return (
    `${bytes} bytes of output are missing: a process wrote more than head.log_limit; ` +
    '--output FILE keeps all of it'
  );
}

function* sourcesOf(
  { id: jobId, array, first, items, nodeCount, processesPerNode }: FollowedJob,
  streams: readonly Stream[],
  { nodeRank, rank, ...part }: OutputRange,
): Generator<Source> {
  const nodeRanks = nodeRank === undefined ? upTo(nodeCount) : [nodeRank];
  const ranks = rank === undefined ? upTo(processesPerNode) : [rank];
  const count = nodeRanks.length * ranks.length;
  if ((array !== null || count > 1) && (part.offset ?? part.limit) !== undefined) {
    throw usage(
      `--offset and --limit count the bytes of one process; ${chooseWords(jobId, array)}`,
    );
  }
  for (const index of array === null ? [null] : inOrder(readIndices(array), first ?? [])) {
    const id = index === null ? jobId : `${jobId}[${index}]`;
    for (const on of nodeRanks) {
      for (const at of ranks) {
        const task = index === null ? null : `${index}${pointWords(items?.get(index))}`;
        const label = labelOf(task, count === 1 ? '' : `${on}.${at}`);
        for (const stream of streams) yield { id, stream, nodeRank: on, rank: at, label, ...part };
      }
    }
  }
}

function* inOrder(indices: IntervalSet, first: readonly number[]): Generator<number> {
  yield* first;
  const shown = new Set(first);
  for (const index of indices) if (!shown.has(index)) yield index;
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at);
}

function chooseWords(id: string, array: string | null): string {
  if (array !== null) return `job ${id} is an array: name one task of it, as ${id}[0]`;
  return 'choose it with --node and --rank';
}

function readIndices(text: string): IntervalSet {
  return IntervalSet.of(
    text.split(',').map((part): Interval => {
      const [from = 0, to = from] = part.split('-').map(Number);
      return [from, to];
    }),
  );
}

/** Longer values would be all that there is of a line. */
const POINT_WIDTH = 40;

function pointWords(item: Item | undefined): string {
  return item === undefined ? '' : ` ${cutLine(printable(formatItem(item)), POINT_WIDTH)}`;
}

/** `7: ` for task 7 of an array, `0.1: ` for process 1 on node 0, `7/0.1: ` for both. */
function labelOf(task: string | null, process: string): string | null {
  const parts = [...(task === null ? [] : [task]), ...(process === '' ? [] : [process])];
  return parts.length === 0 ? null : `${parts.join('/')}: `;
}

async function copyOne(
  context: Context,
  { label, ...source }: Source,
  how: {
    readonly follow: boolean;
    readonly isOnly: boolean;
    readonly turn: Promise<void>;
    readonly isOver: () => boolean;
  },
): Promise<Copied> {
  const { follow, isOnly, turn, isOver } = how;
  const toError = source.stream === 'stderr' && !isOnly;
  const sink = (bytes: Uint8Array) => (toError ? context.error(bytes) : context.out(bytes));
  const lines = label === null ? null : new LineLabeller(label, sink);
  const write = lines === null ? sink : (bytes: Uint8Array) => lines.write(bytes);
  const ahead = follow ? null : await readAhead(context, source, turn);
  await turn;
  for (const bytes of ahead?.pieces ?? []) write(bytes);
  const copied = ahead?.copied ?? (await copyLog(context, { ...source, follow, isOver }, write));
  lines?.end();
  return copied;
}

/**
 * Short output that is whole before its turn, or soon after. Null is for all else: what is long,
 * late or refused is read, and told, in its turn.
 */
async function readAhead(
  context: Context,
  { id, last, ...which }: Omit<Source, 'label'>,
  turn: Promise<void>,
): Promise<{ readonly pieces: readonly Buffer[]; readonly copied: Copied } | null> {
  if ((last ?? which.offset ?? which.limit) !== undefined) return null;
  const late = new AbortController();
  const over = new AbortController();
  const untilLate = async () => {
    await turn;
    await sleep(REST_TOLD_MS, undefined, { signal: over.signal });
  };
  untilLate()
    .catch(() => {})
    .finally(() => late.abort());
  try {
    const stream = await (await context.api()).stream('readLogs', {
      params: { id },
      query: { ...which, limit: AHEAD_MAX_BYTES + 1 },
      signal: late.signal,
    });
    const pieces: Buffer[] = await stream.toArray({ signal: late.signal });
    const copied = copiedOf(stream, { bytes: Buffer.concat(pieces).length, before: 0 });
    return copied.bytes > AHEAD_MAX_BYTES ? null : { pieces, copied };
  } catch {
    return null;
  } finally {
    over.abort();
  }
}

// Copies captured output to a sink while it is written, and goes on where it was after a cut.

interface LogSource {
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
  /** Nothing is tried again once this is so. */
  readonly isOver: () => boolean;
}

/** What the head says about a file of output. */
interface Copied {
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
async function copyLog(
  context: Context,
  source: LogSource,
  write: (bytes: Uint8Array) => void,
): Promise<Copied> {
  const { id, last, follow, isOver, ...which } = source;
  // Without a word about it the head sends all of the output of a task that is done.
  const query = follow ? { ...which, follow } : which;
  const api = await context.api();
  let start = last === undefined ? (which.offset ?? 0) : null;
  let offset = start ?? 0;
  const note = 'Waiting for the head to come back.';
  const usual = follow ? patienceOfWait(null) : { totalMs: HEAD_AWAY_MAX_MS, note };
  const patience = { ...usual, isOver };
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
    return copiedOf(stream, { bytes: offset - from, before: from });
  });
}

function copiedOf(stream: Answer, read: Pick<Copied, 'bytes' | 'before'>): Copied {
  const said = stream.trailers[LOG_HEADERS.dropped] ?? stream.headers[LOG_HEADERS.dropped];
  return { ...read, dropped: Number(said ?? 0), isWhole: !isLacking(stream) };
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
