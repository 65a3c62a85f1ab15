// What can be asked about batches.

import type { BatchOrigin, BatchRef } from '../../../kernel/model/batch.ts';
import type { Submission } from '../../../kernel/model/submission.ts';

export type BatchCommand = SubmitBatch | RetryBatch | CancelBatch | RemoveBatch | RebuildBatch;

export interface SubmitBatch {
  readonly kind: 'submit_batch';
  readonly namespace: string;
  readonly name: string;
  readonly origin: BatchOrigin;
  readonly after: readonly BatchRef[];
  /** What becomes of one that has this name. */
  readonly mode: 'new' | 'resume' | 'new_version';
  /** Stands for the solver that is built (`BatchBuild.key`); null: none is. */
  readonly build: string | null;
  /** How long that may take on a node. Absent: `Settings.buildMsMax`. */
  readonly buildMs?: number | undefined;
  /** Together they have every job of the batch once. */
  readonly parts: readonly BatchPartRequest[];
  /** Same owner and key, same batch. */
  readonly key: string | null;
}

export interface BatchPartRequest {
  /** With an item for each job, whose field `name` is the job's. */
  readonly submission: Submission;
  /** Which jobs of the batch these are, in the order of the items. */
  readonly numbers: readonly number[];
  /** Jobs of the batch that have to complete before all of these. */
  readonly after?: readonly number[] | undefined;
  /** By item (`BatchJob.print`). */
  readonly prints: readonly string[];
}

/** Runs again, by the specification that it has, what ended and did not complete. */
export interface RetryBatch {
  readonly kind: 'retry_batch';
  readonly batch: BatchRef;
}

export interface CancelBatch {
  readonly kind: 'cancel_batch';
  readonly batch: BatchRef;
}

/** Builds the solver anew, also on nodes where it has failed. */
export interface RebuildBatch {
  readonly kind: 'rebuild_batch';
  readonly batch: BatchRef;
}

/** Forgets one that is over. */
export interface RemoveBatch {
  readonly kind: 'remove_batch';
  readonly batch: BatchRef;
}
