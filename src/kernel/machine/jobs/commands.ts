// What can be asked about jobs.

import type { BlobHash } from '../../model/blob.ts';
import type { JobId } from '../../model/ids.ts';
import type { Dependency, OutcomeKind } from '../../model/job.ts';
import type { JobChange, Submission } from '../../model/submission.ts';

export type JobCommand = SubmitJob | ChangeJob | RetryJob | HoldJob | ReleaseJob;

/** By id: dependencies that have left memory, looked up in the history by the shell. */
export type RetiredJobs = Readonly<Record<number, RetiredJob>>;

/** How a job ended that has left memory. */
export interface RetiredJob {
  readonly kind: OutcomeKind;
  /** The indices of an array; null for a plain job. */
  readonly indices: string | null;
}

export interface SubmitJob {
  readonly kind: 'submit_job';
  readonly submission: Submission;
  /** Same owner + same key = same job, however often it is sent. */
  readonly key: string | null;
  readonly retired: RetiredJobs;
  /** A fresh secret, for a submission with `mpi`. */
  readonly stepKey?: string;
}

export interface ChangeJob {
  readonly kind: 'change_job';
  readonly jobId: JobId;
  readonly change: JobChange;
}

/** Runs the tasks that did not complete again, or all of them, as a new job. */
export interface RetryJob {
  readonly kind: 'retry_job';
  readonly jobId: JobId;
  /** The same as in `SubmitJob`. */
  readonly key: string | null;
  readonly retired: RetiredJobs;
  /** Null: those of the job, which are met; what it waits for otherwise. */
  readonly dependencies: readonly Dependency[] | null;
  /** Those that completed, too. */
  readonly all?: boolean;
  /** These of an array alone: `3,9-12`. */
  readonly indices?: string;
  /** The list of files that they get instead of the job's. */
  readonly inputs?: BlobHash;
}

export interface HoldJob {
  readonly kind: 'hold_job';
  readonly jobId: JobId;
}

export interface ReleaseJob {
  readonly kind: 'release_job';
  readonly jobId: JobId;
}
