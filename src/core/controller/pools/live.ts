// The pools that live, and the one that somebody names.

import { err, ok, type Result } from '../../base/result.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import type { JobId, UserName } from '../../model/ids.ts';
import type { Job } from '../jobs/facts.ts';
import type { State } from '../state.ts';

export function isLivePool({ spec, outcome }: Job): boolean {
  return spec.pool !== undefined && outcome === null;
}

/** Whether it is among those that live, from now on. */
export function notePool({ indexes }: State, job: Job): void {
  if (isLivePool(job)) indexes.pools.add(job);
  else indexes.pools.delete(job);
}

/** By number also one that has ended; by name its owner's that lives. */
export function findPool(
  { indexes, jobs }: State,
  text: string,
  owner: UserName,
): Result<Job, Refusal> {
  if (/^\d{1,15}$/.test(text)) {
    const job = jobs.get(Number(text) as JobId);
    if (job?.spec.pool !== undefined) return ok(job);
  }
  for (const job of indexes.pools) {
    if (job.owner === owner && job.spec.pool?.name === text) return ok(job);
  }
  return err(refuse('pool.not_found', { pool: text }));
}
