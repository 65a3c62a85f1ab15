// Where the head keeps what it promised: a journal of records, a snapshot to start from, and the
// history of jobs and tasks that people ask about.

import type { HistoryQuery, HistoryRow, JobRow, TaskRow } from './history.ts';

/** What is read at start: the last snapshot and every record after it, oldest first. */
export interface Recovered {
  readonly snapshot: Uint8Array | null;
  /** Sequence number of the last record that the snapshot contains; 0 without a snapshot. */
  readonly snapshotSeq: number;
  readonly records: Iterable<{ readonly seq: number; readonly bytes: Uint8Array }>;
}

/** One group commit: journal entries and what they change in the history, all or nothing. */
export interface Commit {
  /** Sequence number of this entry; exactly one more than the one before. */
  readonly seq: number;
  readonly bytes: Uint8Array;
  readonly history: readonly HistoryRow[];
}

/** Every promise settles, and rejects only with `StoreFailure`, also when the store is gone. */
export interface Store {
  /** May be called again, as it must be after a failed append: it says what was kept. */
  recover(): Promise<Recovered>;
  /**
   * Resolves when durable. After a rejection nothing of it is in memory or in what `recover` then
   * reads, except that a record whose sync failed (`io`) may turn up: read before writing again.
   * Appends already on their way behind it are rejected too. Not resolved before an earlier one.
   */
  append(commit: Commit): Promise<void>;
  /**
   * Replaces the snapshot and drops records up to `seq`; commits go on in the meantime, and
   * `bytes` must stay as they are until it is done.
   */
  saveSnapshot(seq: number, bytes: Uint8Array): Promise<void>;
  /** Whether a write would succeed now, found by writing; used after a failure. */
  probe(): Promise<boolean>;
  jobs(query: HistoryQuery): Promise<JobRow[]>;
  tasks(query: HistoryQuery): Promise<TaskRow[]>;
  /** Finishes what was asked before; calls made later are rejected. */
  close(): Promise<void>;
}

/** The store could not be opened or written; `message` says what, where and what to do. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure';
  readonly reason: 'full' | 'read_only' | 'corrupt' | 'foreign' | 'locked' | 'io' | 'newer';

  constructor(reason: StoreFailure['reason'], message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}
