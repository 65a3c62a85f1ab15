// Which batch a job is of, for the archive: a job of a batch has its files in the folder of that.

import type { Job } from '../../machine/jobs/facts.ts';
import type { State } from '../../machine/state.ts';
import type { BatchShelf } from './archive-places.ts';

export interface Shelving {
  /** The place of a task among the jobs of its batch; null: it is none of them. */
  batchShelf(job: Job, index: number): BatchShelf | null;
  /** Names of all jobs of the batch; empty: they are not known any more. */
  jobNames(state: State, batch: BatchShelf): readonly string[];
}

/** There are no batches. */
export const NO_BATCHES: Shelving = { batchShelf: () => null, jobNames: () => [] };
