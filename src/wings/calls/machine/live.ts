// The pools that live, and the one that somebody names.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import type { State } from '../../../kernel/machine/state.ts';
import { type Refusal, refuse } from '../../../kernel/model/errors.ts';
import type { JobId, UserName } from '../../../kernel/model/ids.ts';

export function isLivePool({ spec, outcome }: Job): boolean {
  return spec.pool !== undefined && outcome === null;
}

/** Stopped, but for workers that still end. It never goes on. */
export function isStopping({ active, pending }: Job): boolean {
  if (active.size === 0 || pending.size > 0) return false;
  for (const { ending } of active.values()) if (ending?.kind !== 'cancel') return false;
  return true;
}

/** True for a pool that takes calls. */
export function isOpenPool(job: Job): boolean {
  return isLivePool(job) && !isStopping(job);
}

/** Whether it is among those that live, from now on. */
export function notePool({ indexes }: State, job: Job): void {
  if (isLivePool(job)) indexes.pools.add(job);
  else indexes.pools.delete(job);
}

/**
 * By number also one that has ended; by name its owner's that lives, one that is not stopped first.
 */
export function findPool(
  { indexes, jobs }: State,
  text: string,
  owner: UserName,
): Result<Job, Refusal> {
  if (/^\d{1,15}$/.test(text)) {
    const job = jobs.get(Number(text) as JobId);
    if (job?.spec.pool !== undefined) return ok(job);
  }
  let stopping: Job | null = null;
  for (const job of indexes.pools) {
    if (job.owner !== owner || job.spec.pool?.name !== text) continue;
    if (!isStopping(job)) return ok(job);
    stopping = job;
  }
  return stopping === null ? err(refuse('pool.not_found', { pool: text })) : ok(stopping);
}
