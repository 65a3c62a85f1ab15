// Output as it comes, until the task is done and all of it has arrived; and the rest of what is
// still on its way when somebody asks for the output of a task that is done.

import type { ServerResponse } from 'node:http';
import { LOG_HEADERS } from '../../../api/log-headers.ts';
import { ok, type Result } from '../../../base/result.ts';
import type { Job } from '../../../machine/jobs/facts.ts';
import type { Refusal } from '../../../model/errors.ts';
import { endedAs } from '../../answers/job-state.ts';
import type { Services } from '../services.ts';
import { type Over, restOf } from './log-rest.ts';
import { copy, logPlace, type Progress, progress, type Target } from './log-target.ts';
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
  begin(response, epoch);
  let offset = query.offset ?? 0;
  let dropped = 0;
  let isWhole = true;
  for (;;) {
    const followed = await followEpoch(services, response, { target, epoch, offset });
    dropped += followed.dropped;
    isWhole &&= followed.isWhole;
    await taskMoves(services, target, epoch);
    now = await progress(services, target);
    if (signal.aborted || query.epoch !== undefined || now.epoch <= epoch) break;
    epoch = now.epoch;
    offset = 0;
  }
  end(response, signal, { dropped, isWhole });
  return ok(null);
}

/** The same of one start that is over: what is here, and the rest of it when that comes. */
export async function sendRest(
  services: Services,
  response: ServerResponse,
  { target, epoch, offset }: { target: Target; epoch: number; offset: number },
): Promise<Result<null, Refusal>> {
  const { limit = Number.POSITIVE_INFINITY } = target.query;
  begin(response, epoch);
  const until = offset + limit;
  const followed = await followEpoch(services, response, { target, epoch, offset, until });
  end(response, target.signal, followed);
  return ok(null);
}

function begin(response: ServerResponse, epoch: number): void {
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    trailer: [LOG_HEADERS.complete, LOG_HEADERS.dropped, LOG_HEADERS.lacking].join(', '),
    [LOG_HEADERS.epoch]: epoch,
  });
  response.flushHeaders();
}

function end(response: ServerResponse, signal: AbortSignal, { dropped, isWhole }: Followed): void {
  response.addTrailers({
    [LOG_HEADERS.complete]: String(isWhole && !signal.aborted),
    [LOG_HEADERS.dropped]: String(dropped),
    [LOG_HEADERS.lacking]: String(!isWhole),
  });
  // A head that stops must not look like a complete answer: the cut makes the reader come back.
  if (signal.aborted) response.destroy();
  else response.end();
}

interface Following {
  readonly target: Target;
  readonly epoch: number;
  readonly offset: number;
  /** The reader wants no more than up to here. */
  readonly until?: number;
}

interface Followed {
  readonly dropped: number;
  /** False: some of it has not come, and nobody sends it. */
  readonly isWhole: boolean;
}

/** Sends one start's output as it comes. Resolves when it is complete, or the reader has gone. */
async function followEpoch(
  services: Services,
  response: ServerResponse,
  { target, epoch, offset, until: bound = Number.POSITIVE_INFINITY }: Following,
): Promise<Followed> {
  const { logs, engine } = services;
  const { signal } = target;
  const log = logPlace(target, epoch);
  let from = offset;
  let seenAt: number | null = null;
  for (;;) {
    // Listen first, look second: what comes in between is not missed.
    const change = new AbortController();
    const unwatch = logs.watch(log, () => change.abort());
    const now = await progress(services, target);
    const status = await logs.status(log);
    const isOver = isPastStart(now, epoch);
    if (isOver) seenAt ??= engine.now();
    if (from > offset && status.size < from) {
      response.destroy(); // Removed while being read: the cut says that it is not complete.
      unwatch();
      return { dropped: status.dropped, isWhole: false };
    }
    const end = Math.min(status.size, bound);
    await copy(services, response, { log, from, end, signal });
    from = Math.max(from, end);
    const over: Over | null = seenAt === null ? null : { ...now, seenAt };
    const rest = restOf(status, over, engine.now());
    if (signal.aborted || from >= bound || typeof rest === 'string') {
      unwatch();
      return { dropped: status.dropped, isWhole: rest !== 'lacking' };
    }
    const waitMs = isOver ? rest.waitMs : null;
    await somethingHappens(services, target, { epoch, waitMs, isOver, signal: change.signal });
    unwatch();
  }
}

interface OutputWait {
  readonly epoch: number;
  readonly waitMs: number | null;
  readonly isOver: boolean;
  /** Aborted by a change of the file. */
  readonly signal: AbortSignal;
}

/** Resolves with more output, with the end of the epoch, or when its last output is overdue. */
function somethingHappens(services: Services, target: Target, waiting: OutputWait) {
  const signal = AbortSignal.any([target.signal, waiting.signal]);
  const isMet = waiting.isOver ? () => false : isPast(target, waiting.epoch);
  const timeoutMs = waiting.waitMs;
  return until(services, { jobId: target.place.jobId, isMet, timeoutMs, signal });
}

/** Resolves when the task is done or has been started again. */
function taskMoves(services: Services, target: Target, epoch: number) {
  const { place, signal } = target;
  const isMet = isPast(target, epoch);
  return until(services, { jobId: place.jobId, isMet, timeoutMs: null, signal });
}

/** Nothing more is written by this start. */
export function isPastStart({ isDone, epoch: last }: Progress, epoch: number): boolean {
  return isDone || last > epoch;
}

function isPast({ index }: Target, epoch: number) {
  return (job: Job | undefined): boolean =>
    job === undefined ||
    job.outcome !== null ||
    endedAs(job, index) !== undefined ||
    (job.active.get(index)?.epoch ?? 0) > epoch;
}
