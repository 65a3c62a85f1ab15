// Where a head keeps steps that are over.

export interface KeptStep {
  readonly jobId: number;
  /** Null for a plain job's only task. */
  readonly index: number | null;
  readonly number: number;
  readonly owner: string;
  /**
   * Processes that it was made of: a head that knows fewer changes nothing. 0: only its number is
   * taken.
   */
  readonly known: number;
  readonly endedAt: number;
  /** What is shown of it. */
  readonly text: string;
}

/**
 * Which jobs' steps: from one id to another, of one owner or of all; null for `after`: from the
 * first on.
 */
export interface ShelfWish {
  readonly from: number;
  readonly to: number;
  readonly owner: string | null;
  readonly after: StepCursor | null;
  readonly max: number;
}

/** The last step of a page. */
export interface StepCursor {
  readonly jobId: number;
  readonly index: number | null;
  readonly number: number;
}

export interface StepShelf {
  put(step: KeptStep): void;
  /** The newest, the oldest of them first. `index`: undefined for all tasks of the job. */
  ofJob(jobId: number, index: number | null | undefined, max: number): readonly KeptStep[];
  /** By job, task and number. */
  among(wish: ShelfWish): readonly KeptStep[];
  /** Higher than all numbers of the task. */
  nextOf(jobId: number, index: number | null): number;
  /** Those that ended before, and the oldest beyond so many. */
  drop(before: number, keepMax: number): void;
  close(): void;
}
