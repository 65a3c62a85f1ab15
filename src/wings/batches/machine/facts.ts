// Batches as the head knows them. What becomes of their jobs is kept here, so that it is still
// known when those have left memory.

import type { IntervalSet } from '../../../kernel/base/interval-set.ts';
import type { BatchName, BatchOrigin } from '../../../kernel/model/batch.ts';
import type { EpochId, JobId, NodeName, UserName } from '../../../kernel/model/ids.ts';
import type { OutcomeKind } from '../../../kernel/model/job.ts';

export interface BatchesFacts {
  /** By title, as `alice/sweep_01@2`, in the order in which they were made. */
  readonly batches: Map<string, Batch>;
}

export interface Batch extends BatchName {
  readonly owner: UserName;
  readonly origin: BatchOrigin;
  /** Titles of the batches that had to be complete before. */
  readonly after: readonly string[];
  createdAt: number;
  /** Null when no solver is built. */
  readonly build: BatchBuild | null;
  /** By number, from 0, in the order of the file. */
  jobs: readonly BatchJob[];
  /** Oldest first; what a later one has is no longer the earlier one's. */
  readonly parts: BatchPart[];
  /** Numbers of the jobs that are over, by outcome. */
  readonly ended: Map<OutcomeKind, IntervalSet>;
  /** When the last of its jobs ended; null: one is not over. */
  endedAt: number | null;
}

export interface BatchJob {
  readonly name: string;
  /** Stands for all that goes into it: another one would be another job. */
  readonly print: string;
}

export interface BatchBuild {
  /** Stands for the solver with all that it is made of: nodes keep its build under it. */
  readonly key: string;
  /** In the label of the nodes where it has failed. */
  readonly number: number;
  /** How often it was to be built anew. */
  turn: number;
  /** How often nodes where it has failed were to try again. */
  attempts: number;
  /** Nodes where it has failed, and the start that tells of it in its output. */
  readonly failed: Map<NodeName, EpochId>;
  /** Key of the build that the newest part has: `ready` is about this one. */
  readyKey: string;
  /** Nodes that have it, as far as they have told. */
  readonly ready: Set<NodeName>;
}

/** An array whose tasks are jobs of the batch. */
export interface BatchPart {
  readonly jobId: JobId;
  /** By item: the number of the job. */
  readonly numbers: readonly number[];
  /** Items that it runs. */
  readonly items: IntervalSet;
}
