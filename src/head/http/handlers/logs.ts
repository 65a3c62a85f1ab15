// Captured output, as it is: a range of what is there, or followed until all of it has arrived.

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { LOG_HEADERS } from '../../../api/log-headers.ts';
import { err, ok, type Result } from '../../../core/base/result.ts';
import type { Job } from '../../../core/controller/state.ts';
import { type Refusal, refuse } from '../../../core/model/errors.ts';
import { formatTaskId, type TaskPlace } from '../../../core/model/ids.ts';
import type { LogStatus } from '../../logs/log-files.ts';
import type { LogPlace } from '../../logs/log-path.ts';
import { endedAs } from '../../views/job-state.ts';
import { readSpec } from '../../views/past-job-view.ts';
import type { Call, Handler } from '../call.ts';
import { checkIndex, type FoundJob, findJob, readPlace } from '../find-job.ts';
import type { Services } from '../services.ts';
import { viewTasks } from './list-tasks.ts';
import { until } from './wait.ts';

const CHUNK_BYTES = 256 * 1024;
/** An agent sends the last piece at once; after this long it is taken to have been lost. */
const TAIL_WAIT_MS = 5000;

/** A task in the state's terms, and the file that is asked for. */
interface Target {
  readonly place: TaskPlace;
  readonly index: number;
  readonly query: Call<'readLogs'>['query'];
  readonly signal: AbortSignal;
}

export const readLogs: Handler<'readLogs'> = async (services, call) => {
  const { params, query, job, signal } = call;
  const place = readPlace(params.id, query.index);
  if (!place.ok) return place;
  if (job === null) return err(refuse('job.not_found', { job: params.id }));
  const index = checkIndex(job, place.value);
  if (!index.ok) return index;
  if (index.value === undefined) {
    const what = `job ${place.value.jobId} is an array; name a task, as ${place.value.jobId}[0]`;
    return err(refuse('argument.invalid', { what }));
  }
  const elsewhere = elsewhereOf(job, query.stream ?? 'stdout');
  if (elsewhere !== null) {
    const task = formatTaskId(place.value.jobId, place.value.index);
    return err(refuse('log.elsewhere', { task, path: elsewhere }));
  }
  const target: Target = { place: place.value, index: index.value, query, signal };
  const run = query.follow === true ? followTask : sendRange;
  return run(services, call.response, target);
};

/** The file on the nodes that the user named for this stream; null when the output comes here. */
function elsewhereOf(job: FoundJob, stream: 'stdout' | 'stderr'): string | null {
  const spec = job.kind === 'live' ? job.job.spec : readSpec(job.row);
  return spec.files[stream] ?? null;
}

/** What there is now, from `offset` on, `limit` bytes at most. */
async function sendRange(
  services: Services,
  response: ServerResponse,
  target: Target,
): Promise<Result<null, Refusal>> {
  const now = await progress(services, target);
  const { query } = target;
  const epoch = query.epoch ?? now.epoch;
  const log = logPlace(target, Math.max(1, epoch));
  const status = await services.logs.status(log);
  const { jobId } = target.place;
  if (status.size === 0 && (await services.logs.wasRemoved(jobId))) {
    return err(refuse('log.removed', { job: String(jobId) }));
  }
  const from = Math.min(query.offset ?? 0, status.size);
  const end = Math.min(status.size, from + (query.limit ?? status.size));
  const isOver = now.isDone || now.epoch > epoch;
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': end - from,
    [LOG_HEADERS.epoch]: epoch,
    [LOG_HEADERS.size]: status.size,
    [LOG_HEADERS.complete]: String(status.ended || (isOver && now.isLongOver)),
    [LOG_HEADERS.dropped]: status.dropped,
  });
  await copy(services, response, { log, from, end, signal: target.signal });
  response.end();
  return ok(null);
}

/** One start after the other, each until its output is complete; or the one that was asked for. */
async function followTask(
  services: Services,
  response: ServerResponse,
  target: Target,
): Promise<Result<null, Refusal>> {
  const { query, signal } = target;
  let now = await progress(services, target);
  let epoch = query.epoch ?? Math.max(1, now.epoch);
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    trailer: `${LOG_HEADERS.complete}, ${LOG_HEADERS.dropped}`,
    [LOG_HEADERS.epoch]: epoch,
  });
  response.flushHeaders();
  let offset = query.offset ?? 0;
  let dropped = 0;
  for (;;) {
    const status = await followEpoch(services, response, { target, epoch, offset });
    dropped += status.dropped;
    await taskMoves(services, target, epoch);
    now = await progress(services, target);
    if (signal.aborted || query.epoch !== undefined || now.epoch <= epoch) break;
    epoch = now.epoch;
    offset = 0;
  }
  response.addTrailers({
    [LOG_HEADERS.complete]: String(!signal.aborted),
    [LOG_HEADERS.dropped]: String(dropped),
  });
  // A head that stops must not look like a complete answer: the cut makes the reader come back.
  if (signal.aborted) response.destroy();
  else response.end();
  return ok(null);
}

/** Sends one start's output as it comes. Resolves when it is complete, or the reader has gone. */
async function followEpoch(
  services: Services,
  response: ServerResponse,
  { target, epoch, offset }: { target: Target; epoch: number; offset: number },
): Promise<LogStatus> {
  const { logs, clock } = services;
  const { signal } = target;
  const log = logPlace(target, epoch);
  let from = offset;
  let overAt: number | null = null;
  for (;;) {
    // Listen first, look second: what comes in between is not missed.
    const change = new AbortController();
    const unwatch = logs.watch(log, () => change.abort());
    const now = await progress(services, target);
    const status = await logs.status(log);
    const isOver = now.isDone || now.epoch > epoch;
    if (isOver) overAt ??= now.isLongOver ? Number.NEGATIVE_INFINITY : clock.monotonic();
    const end = status.size;
    await copy(services, response, { log, from, end, signal });
    from = Math.max(from, end);
    const restMs = overAt === null ? null : overAt + TAIL_WAIT_MS - clock.monotonic();
    if (signal.aborted || status.ended || (restMs !== null && restMs <= 0)) {
      unwatch();
      return status;
    }
    await somethingHappens(services, target, { epoch, restMs, isOver, signal: change.signal });
    unwatch();
  }
}

interface Waiting {
  readonly epoch: number;
  readonly restMs: number | null;
  readonly isOver: boolean;
  /** Aborted by a change of the file. */
  readonly signal: AbortSignal;
}

/** Resolves with more output, with the end of the epoch, or when its last output is overdue. */
function somethingHappens(services: Services, target: Target, waiting: Waiting) {
  const signal = AbortSignal.any([target.signal, waiting.signal]);
  const isMet = waiting.isOver ? () => false : isPast(target, waiting.epoch);
  const timeoutMs = waiting.restMs;
  return until(services, { jobId: target.place.jobId, isMet, timeoutMs, signal });
}

/** Resolves when the task is done or has been started again. */
function taskMoves(services: Services, target: Target, epoch: number) {
  const { place, signal } = target;
  const isMet = isPast(target, epoch);
  return until(services, { jobId: place.jobId, isMet, timeoutMs: null, signal });
}

function isPast({ index }: Target, epoch: number) {
  return (job: Job | undefined): boolean =>
    job === undefined ||
    job.outcome !== null ||
    endedAs(job, index) !== undefined ||
    (job.active.get(index)?.epoch ?? 0) > epoch;
}

interface Progress {
  /** The last start; 0 before the first. */
  readonly epoch: number;
  readonly isDone: boolean;
  /** Done for so long that no more output can be on its way. */
  readonly isLongOver: boolean;
}

async function progress({ engine }: Services, { place, index }: Target): Promise<Progress> {
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

function logPlace({ place, query }: Target, epoch: number): LogPlace {
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
async function copy(
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
