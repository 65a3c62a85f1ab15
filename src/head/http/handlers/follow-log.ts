// Output as it comes, until the task is done and all of it has arrived.

import type { ServerResponse } from 'node:http';
import { LOG_HEADERS } from '../../../api/log-headers.ts';
import { ok, type Result } from '../../../core/base/result.ts';
import type { Job } from '../../../core/controller/jobs/facts.ts';
import type { Refusal } from '../../../core/model/errors.ts';
import { endedAs } from '../../answers/job-state.ts';
import type { LogStatus } from '../../logs/log-files.ts';
import type { Services } from '../services.ts';
import { copy, logPlace, progress, TAIL_WAIT_MS, type Target } from './log-target.ts';
import { until } from './wait.ts';

/** One start after the other, each until its output is complete; or the one that was asked for. */
export async function followTask(
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
