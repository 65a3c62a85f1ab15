// Where samples are kept.

import type { SeriesChunk, TaskRow } from '../model/chunk.ts';

export interface Shelf {
  /** All or nothing; what is there under the same names is replaced. */
  put(chunks: readonly SeriesChunk[], tasks: readonly TaskRow[]): void;
  chunk(series: string, line: number, start: number): Uint8Array | null;
  /** In their order; those that begin within the bounds, both included. */
  chunks(series: string, line: number, from: number, to: number): readonly SeriesChunk[];
  /** The newest first, at most so many. */
  tasksOf(jobId: number, max: number): readonly TaskRow[];
  /** What everybody's tasks asked for and used since then. */
  byOwner(since: number): readonly OwnerUse[];
  /** Forgets chunks of the column that begin before the step. */
  dropChunks(line: number, before: number): void;
  /** Forgets tasks that nobody has looked at since then, and the oldest beyond so many. */
  dropTasks(before: number, keepMax: number): void;
  bytes(): number;
  close(): void;
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
