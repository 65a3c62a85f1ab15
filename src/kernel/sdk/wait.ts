// Waiting for jobs over long polls that survive a restart of the head.

import { PAUSE_MAX_MS } from '../connect/patience.ts';
import { refuse } from '../model/errors.ts';
import { failure } from '../model/failure.ts';
import { asWeftError, WeftError } from './errors.ts';
import { checkOptions } from './known-options.ts';
import type { HeadConnection } from './line.ts';
import { WAIT_OPTIONS, type WaitOptions } from './options.ts';
import { durationMs } from './submission.ts';
import type { JobInfo } from './views.ts';

/** One poll; the head answers earlier when there is something to say. */
const POLL_MS = 30_000;
const FOR_EVER = Number.POSITIVE_INFINITY;
/** What an answer may take beyond the poll. */
const ANSWER_MS = 15_000;
/** Jobs that may be named in one request. */
const JOBS_MAX = 1000;

/** Resolves when it is done, or has started. */
export async function waitForJob(
  line: HeadConnection,
  id: string,
  options: WaitOptions,
): Promise<JobInfo> {
  checkOptions('wait', options, WAIT_OPTIONS);
  const { until = 'done', signal } = options;
  return poll(options, async (timeoutMs, restMs) => {
    const query = { timeoutMs, until };
    const timed = { timeoutMs: timeoutMs + ANSWER_MS, signal, restMs };
    return (await line.waitCall('waitForJob', { params: { id }, query, ...timed })).job;
  });
}

/** Resolves when all of them are. */
export async function waitForAll(
  line: HeadConnection,
  ids: readonly string[],
  options: WaitOptions,
): Promise<readonly JobInfo[]> {
  checkOptions('wait', options, WAIT_OPTIONS);
  const { until = 'done', signal } = options;
  const found: JobInfo[] = [];
  for (let from = 0; from < ids.length; from += JOBS_MAX) {
    const jobs = ids.slice(from, from + JOBS_MAX);
    const part = await poll(options, async (timeoutMs, restMs) => {
      const body = { jobs, until, timeoutMs };
      const timed = { timeoutMs: timeoutMs + ANSWER_MS, signal, restMs };
      return line.waitCall('waitForJobs', { body, ...timed });
    });
    found.push(...part.jobs.map(({ job }) => job));
  }
  return found;
}

/** Asks again and again, until there is an answer or the time is over. */
async function poll<T>(
  { timeout }: WaitOptions,
  ask: (timeoutMs: number, restMs: number) => Promise<T>,
): Promise<T> {
  const limitMs = timeout === undefined ? null : durationMs('timeout', timeout);
  const deadline = limitMs === null ? null : performance.now() + limitMs;
  for (;;) {
    const restMs = deadline === null ? FOR_EVER : Math.max(0, deadline - performance.now());
    try {
      return await ask(Math.min(POLL_MS, Math.ceil(restMs)), restMs);
    } catch (error) {
      if (!(error instanceof WeftError)) throw error;
      // Between two tries of a head that is away the time may run out as well.
      const isLate = deadline !== null && performance.now() + 2 * PAUSE_MAX_MS >= deadline;
      const isAway = isLate && error.kind === 'unavailable';
      if (error.code !== 'wait.timeout' && !isAway) throw error;
      if (isAway) throw timedOut(limitMs);
      if (deadline === null || performance.now() < deadline) continue;
      throw timedOut(limitMs);
    }
  }
}

function timedOut(limitMs: number | null): unknown {
  const limit = `${(limitMs ?? 0) / 1000} s`;
  return asWeftError(failure(refuse('wait.timeout', { limit })));
}
