// Waiting for a job over long polls that survive a restart of the head.

import type { WaitReply } from '../../api/jobs.ts';
import { PAUSE_MAX_MS } from '../../connect/patience.ts';
import { refuse } from '../../model/errors.ts';
import { Failure, failure } from '../../model/failure.ts';
import { patienceOfWait, withPatience } from '../connection/patience.ts';
import type { Context } from '../context.ts';

/** One poll; the head answers earlier when there is something to say. */
const POLL_MS = 30_000;

export interface WaitFor {
  readonly id: string;
  readonly until?: 'done' | 'started';
  /** Null = for ever. */
  readonly timeoutMs?: number | null;
  /** When that began, on the clock of `performance`; absent: now. */
  readonly since?: number;
}

/** Resolves when the job is done (or has started). Throws `wait.timeout` at the end of its time. */
export async function waitFor(context: Context, what: WaitFor): Promise<WaitReply> {
  const api = await context.api();
  const { id, until = 'done', timeoutMs = null, since = performance.now() } = what;
  const deadline = timeoutMs === null ? null : since + timeoutMs;
  for (;;) {
    const restMs = deadline === null ? POLL_MS : Math.max(0, deadline - performance.now());
    const pollMs = Math.min(POLL_MS, Math.ceil(restMs));
    const query = { timeoutMs: pollMs, until };
    const reply = await patiently(context, { deadline, timeoutMs }, async () => {
      try {
        return await api.call('waitForJob', { params: { id }, query, timeoutMs: pollMs + 15_000 });
      } catch (error) {
        if (error instanceof Failure && error.code === 'wait.timeout') return null;
        throw error;
      }
    });
    if (reply !== null) return reply;
    if (deadline !== null && performance.now() >= deadline) throw timedOut(timeoutMs ?? 0);
  }
}

/** While the head is away, too, it is the time given that ends the wait. */
async function patiently<T>(
  context: Context,
  { deadline, timeoutMs }: { readonly deadline: number | null; readonly timeoutMs: number | null },
  attempt: () => Promise<T>,
): Promise<T> {
  try {
    return await withPatience(context, patienceOfWait(deadline), attempt);
  } catch (error) {
    const isAway = error instanceof Failure && error.kind === 'unavailable';
    const pauseMs = 2 * PAUSE_MAX_MS;
    if (isAway && deadline !== null && performance.now() + pauseMs >= deadline) {
      throw timedOut(timeoutMs ?? 0);
    }
    throw error;
  }
}

function timedOut(timeoutMs: number): Failure {
  return failure(refuse('wait.timeout', { limit: `${timeoutMs / 1000} s` }));
}
