// What making room for output has to know of the jobs that it is of.

import type { JobId } from '../../model/ids.ts';
import type { Engine } from '../engine.ts';

export interface LogJobs {
  /** Whether a job's output may be removed to make room. */
  readonly isDone: (jobId: number) => boolean;
  /** Those of whom nobody knows whose they are have no entry. */
  readonly ownersOf: (jobIds: readonly number[]) => Promise<ReadonlyMap<number, string>>;
}

/** The head's jobs. Until `engine` gives one, none is done. */
export function logJobsOf(engine: () => Pick<Engine, 'state' | 'store'> | null): LogJobs {
  return {
    isDone: (jobId) => {
      const state = engine()?.state;
      const job = state?.jobs.get(jobId as JobId);
      // Done jobs leave memory: one that was given out and is not there is done.
      return job === undefined ? jobId < (state?.nextJobId ?? 0) : job.outcome !== null;
    },
    ownersOf: async (jobIds) => {
      const owners = new Map<number, string>();
      const { state, store } = engine() ?? {};
      const past: number[] = [];
      for (const jobId of jobIds) {
        const job = state?.jobs.get(jobId as JobId);
        if (job === undefined) past.push(jobId);
        else owners.set(jobId, job.owner);
      }
      if (past.length === 0) return owners;
      const rows = (await store?.jobs({ jobIds: past, limit: past.length })) ?? [];
      for (const { jobId, owner } of rows) owners.set(jobId, owner);
      return owners;
    },
  };
}
