// Files of a job: what is brought to its nodes before it starts, and what is kept of what it
// leaves.

import type { BlobHash } from './blob.ts';

/** What a submission says of its files. */
export interface StagingRequest {
  /** The list of files that it needs (files/file-set.ts), a blob itself. Absent: none. */
  readonly inputs?: BlobHash | undefined;
  /** Patterns; absent: everything up to `head.archive_default`. An empty list: nothing. */
  readonly outputs?: readonly string[] | undefined;
}

/** The same of a job, complete. */
export interface JobStaging {
  readonly inputs?: BlobHash;
  readonly outputs?: readonly string[];
}

/** What a node has to bring and to keep. */
export interface StagingOrder {
  /** Null when it needs nothing. */
  readonly inputs: BlobHash | null;
  /** Null: all that is there, when that is at most `bytesMax`. */
  readonly outputs: readonly string[] | null;
  /** Null where patterns say what is wanted. */
  readonly bytesMax: number | null;
}

/** What a job of a batch leaves where nothing is kept. */
export interface Outside {
  readonly files: number;
  readonly bytes: number;
  /** Some of what lies there at the top; folders end in `/`. */
  readonly names: readonly string[];
}

/** What a node has kept of an epoch. */
export interface Stored {
  readonly files: number;
  readonly bytes: number;
  /** Files that were wanted, and could not be kept or were too large. */
  readonly leftOut: number;
  /** Absent: nothing, or nobody has looked. */
  readonly outside?: Outside;
  /** In words, why nothing more will be kept. */
  readonly problem?: string;
}
