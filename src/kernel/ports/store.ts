// Where the head keeps what it promised: a journal of records, a snapshot to start from, and the
// history of jobs and tasks that people ask about.

import type { HistoryQuery, HistoryRow, JobRow, TaskRow, UsageQuery, UsageRow } from './history.ts';

/** Numbers that were given out: never again, even when the record that gave them is lost. */
export interface Given {
  readonly nextJobId: number;
  readonly nextReservationId: number;
  /** The largest number of starts that a task has had. */
  readonly epochMax: number;
}

/** Records that were promised and are missing; an operator said to go on without them. */
export interface Loss {
  /** Number of the last record that is there. */
  readonly lastSeq: number;
  /** Number of the last that was promised; null when that cannot be told. */
  readonly promisedSeq: number | null;
  /** Null when that cannot be told. */
  readonly given: Given | null;
}

/** What is read at start: the last snapshot and every record after it, oldest first. */
export interface Recovered {
  readonly snapshot: Uint8Array | null;
  /** Sequence number of the last record that the snapshot contains; 0 without a snapshot. */
  readonly snapshotSeq: number;
  readonly records: Iterable<{ readonly seq: number; readonly bytes: Uint8Array }>;
  /** `ends_only` when the disk was full at the start. */
  readonly room: Exclude<Room, 'none'>;
  /** Null until records are missing and the store was opened to go on without them. */
  readonly loss: Loss | null;
  /** The files were copied to where they are: what was accepted after that is not in them. */
  readonly isElsewhere: boolean;
}

/** What can be written now: `ends_only`: from a reserve, so nothing that makes more work. */
export type Room = 'enough' | 'ends_only' | 'none';

/** One group commit: journal entries and what they change in the history, all or nothing. */
export interface Commit {
  /** Sequence number of this entry; exactly one more than the one before. */
  readonly seq: number;
  readonly bytes: Uint8Array;
  readonly history: readonly HistoryRow[];
  /** What was given out up to this entry. */
  readonly given: Given;
}

/** Which jobs that are done go from the history. */
export interface PruneRule {
  /** Those that ended before this instant; null: however long ago. */
  readonly endedBefore: number | null;
  /** The oldest beyond so many jobs; null: however many. */
  readonly jobsMax: number | null;
  /** But none that ended at this instant or later: others may still ask how it ended. */
  readonly settledBefore: number;
  /** Name of a file in the store's folder that gets the rows first; absent: they only go. */
  readonly exportAs?: string;
}

export interface Pruned {
  readonly jobs: number;
  /** False: there is more to drop; ask again. */
  readonly isDone: boolean;
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
  /** What would be written now, found by writing; used after a failure. */
  probe(): Promise<Room>;
  jobs(query: HistoryQuery): Promise<JobRow[]>;
  tasks(query: HistoryQuery): Promise<TaskRow[]>;
  /** In the order of steps, then of keys. */
  usage(query: UsageQuery): Promise<UsageRow[]>;
  /** Drops history of jobs that are done, the oldest first; a bounded part of it at a time. */
  prune(rule: PruneRule): Promise<Pruned>;
  /** Finishes what was asked before; calls made later are rejected. */
  close(): Promise<void>;
}

/** The store could not be opened or written; `message` says what, where and what to do. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure';
  readonly reason:
    | 'full'
    | 'read_only'
    | 'corrupt'
    | 'lost'
    | 'foreign'
    | 'locked'
    | 'io'
    | 'newer';

  constructor(reason: StoreFailure['reason'], message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}
