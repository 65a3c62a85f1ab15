// Waiting for a job over long polls that survive a restart of the head.

import type { WaitReply } from '../../api/jobs.ts';
import { refuse } from '../../core/model/errors.ts';
import { Failure, failure } from '../../core/model/failure.ts';
import type { Context } from '../context.ts';
import { withPatience } from './retry.ts';

/** One poll; the head answers earlier when there is something to say. */
const POLL_MS = 30_000;
/** A restarting head serves again within seconds; after this long it is a matter for people. */
const HEAD_AWAY_MAX_MS = 120_000;

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
    const note = 'Waiting for the head to come back.';
    const reply = await withPatience(context, { totalMs: HEAD_AWAY_MAX_MS, note }, async () => {
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

function timedOut(timeoutMs: number): Failure {
  return failure(refuse('wait.timeout', { limit: `${timeoutMs / 1000} s` }));
}
