// Where samples are kept.

import type { Holder, JobSums, SeriesChunk, TaskRow } from '../model/chunk.ts';

export interface Shelf {
  /** All or nothing; what is there under the same names is replaced. */
  put(chunks: readonly SeriesChunk[], tasks: readonly TaskRow[]): void;
  chunk(series: string, line: number, start: number): Uint8Array | null;
  /** In their order; those that begin within the bounds, both included. */
  chunks(series: string, line: number, from: number, to: number): readonly SeriesChunk[];
  /** The newest first, at most so many. */
  tasksOf(jobId: number, max: number): readonly TaskRow[];
  task(jobId: number, epochId: string, node: string): TaskRow | null;
  /** Sums over all that is kept of the job; `parts` is 0 when nothing is. */
  sumsOf(jobId: number): JobSums;
  /** Tasks that had gpus of the node since then, the latest first, at most so many. */
  holders(node: string, since: number, max: number): readonly Holder[];
  /**
   * What everybody's tasks asked for and used since then, or only one's; of what ran longer, that
   * part.
   */
  byOwner(since: number, owner: string | null): readonly OwnerUse[];
  /**
   * Forgets what is too old of the next series by name after this one, at most so many. Returns the
   * last of them; null: there are no more.
   */
  dropChunks(after: string, olds: readonly OldChunks[], max: number): string | null;
  /** Forgets tasks that nobody has looked at since then, and the oldest beyond so many. */
  dropTasks(before: number, keepMax: number): void;
  bytes(): number;
  close(): void;
}

/** Chunks of a column that begin before the step. */
export interface OldChunks {
  readonly line: number;
  readonly before: number;
}

export interface OwnerUse {
  readonly owner: string;
  readonly tasks: number;
  readonly looks: number;
  readonly cpuMilliAsked: number;
  readonly cpuMilliUsed: number;
  readonly memoryBytesAsked: number;
  readonly memoryBytesUsed: number;
  readonly gpuMilliAsked: number;
  readonly gpuMilliUsed: number;
}
