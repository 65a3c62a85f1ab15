// The Store port in memory: a disk that survives and a store that can crash. For tests and for the
// simulator; bytes are copied in and out, so that nobody shares what a real store would not share.

import type {
  HistoryQuery,
  HistoryRow,
  JobRow,
  TaskRow,
  UsageQuery,
  UsageRow,
} from '../src/kernel/ports/history.ts';
import {
  type Commit,
  type Pruned,
  type PruneRule,
  type Recovered,
  type Room,
  type Store,
  StoreFailure,
} from '../src/kernel/ports/store.ts';
import { addUsage, matchJobs, matchTasks } from './history-match.ts';

/** What has been committed; hand the same disk to the next store to restart from it. */
export class MemoryDisk {
  journal: { readonly seq: number; readonly bytes: Uint8Array }[] = [];
  snapshot: { readonly seq: number; readonly bytes: Uint8Array } | null = null;
  readonly jobs = new Map<number, JobRow>();
  readonly tasks = new Map<string, TaskRow>();
  /** While set, every write is refused with it and leaves no trace. */
  failure: StoreFailure | null = null;
  /** What is said of it while writes succeed. */
  room: Exclude<Room, 'none'> = 'enough';

  /** 0 when nothing was ever committed. */
  get lastSeq(): number {
    return this.journal.at(-1)?.seq ?? this.snapshot?.seq ?? 0;
  }
}

export interface MemoryStoreOptions {
  readonly disk: MemoryDisk;
  /**
   * Called once per write with the function that commits it, in order; the simulator calls it
   * later, in virtual time. A commit never called, or called after a crash, does not happen.
   */
  readonly commitSoon?: (commit: () => void) => void;
}

export class MemoryStore implements Store {
  readonly #disk: MemoryDisk;
  readonly #commitSoon: (commit: () => void) => void;
  #crashed = false;
  #closed = false;
  #unfinished = new Set<Promise<void>>();

  constructor(options: MemoryStoreOptions) {
    this.#disk = options.disk;
    this.#commitSoon = options.commitSoon ?? queueMicrotask;
  }

  /** The process is gone: what was not committed is lost, and its promises never settle. */
  crash(): void {
    this.#crashed = true;
  }

  async recover(): Promise<Recovered> {
    this.#checkOpen();
    const { snapshot, journal } = this.#disk;
    const records = journal.map(({ seq, bytes }) => ({ seq, bytes: bytes.slice() }));
    const bytes = snapshot === null ? null : snapshot.bytes.slice();
    return {
      snapshot: bytes,
      snapshotSeq: snapshot?.seq ?? 0,
      records,
      room: this.#disk.room,
      loss: null,
      isElsewhere: false,
    };
  }

  async append(commit: Commit): Promise<void> {
    const bytes = Uint8Array.from(commit.bytes);
    const history = commit.history.map(copyOf);
    await this.#write(() => {
      const previous = this.#disk.lastSeq;
      if (commit.seq !== previous + 1) throw outOfOrder(commit.seq, previous);
      this.#disk.journal.push({ seq: commit.seq, bytes });
      for (const entry of history) keep(this.#disk, entry);
    });
  }

  async saveSnapshot(seq: number, bytes: Uint8Array): Promise<void> {
    const copy = Uint8Array.from(bytes);
    await this.#write(() => {
      const { lastSeq, snapshot } = this.#disk;
      if (seq > lastSeq || seq < (snapshot?.seq ?? 0)) throw outOfOrder(seq, lastSeq);
      this.#disk.snapshot = { seq, bytes: copy };
      this.#disk.journal = this.#disk.journal.filter((record) => record.seq > seq);
    });
  }

  async probe(): Promise<Room> {
    this.#checkOpen();
    return this.#disk.failure === null ? this.#disk.room : 'none';
  }

  async jobs(query: HistoryQuery): Promise<JobRow[]> {
    this.#checkOpen();
    return copiesOf(matchJobs(this.#disk.jobs.values(), query));
  }

  async tasks(query: HistoryQuery): Promise<TaskRow[]> {
    this.#checkOpen();
    return copiesOf(matchTasks(this.#disk.tasks.values(), this.#disk.jobs, query));
  }

  async usage(query: UsageQuery): Promise<UsageRow[]> {
    this.#checkOpen();
    return addUsage(this.#disk.tasks.values(), this.#disk.jobs, query);
  }

  async prune({ endedBefore, jobsMax, settledBefore }: PruneRule): Promise<Pruned> {
    let jobs = 0;
    await this.#write(() => {
      const newest = [...this.#disk.jobs.values()].sort(
        (a, b) => b.submittedAt - a.submittedAt || b.jobId - a.jobId,
      );
      for (const [at, { jobId, state, endedAt }] of newest.entries()) {
        const end = endedAt ?? Infinity;
        const isBeyond = jobsMax !== null && at >= jobsMax && end < settledBefore;
        const isOld = end < (endedBefore ?? -1) || isBeyond;
        if (state !== 'done' || !isOld) continue;
        drop(this.#disk, jobId);
        jobs += 1;
      }
    });
    return { jobs, isDone: true };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#unfinished);
  }

  #write(work: () => void): Promise<void> {
    this.#checkOpen();
    const written = new Promise<void>((resolve, reject) => {
      this.#commitSoon(() => {
        if (this.#crashed) return;
        try {
          if (this.#disk.failure !== null) throw this.#disk.failure;
          work();
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
    this.#unfinished.add(written);
    const forget = () => this.#unfinished.delete(written);
    written.then(forget, forget);
    return written;
  }

  #checkOpen(): void {
    if (this.#closed) throw new StoreFailure('io', 'The store is closed.');
  }
}

/** Rows hold nothing that is not a plain value. */
function copyOf(entry: HistoryRow): HistoryRow {
  return entry.kind === 'job'
    ? { kind: 'job', row: { ...entry.row } }
    : { kind: 'task', row: { ...entry.row } };
}

function copiesOf<Row extends object>(rows: readonly Row[]): Row[] {
  return rows.map((row) => ({ ...row }));
}

function keep(disk: MemoryDisk, entry: HistoryRow): void {
  if (entry.kind === 'job') disk.jobs.set(entry.row.jobId, entry.row);
  else disk.tasks.set(taskKey(entry.row), entry.row);
}

function drop(disk: MemoryDisk, jobId: number): void {
  disk.jobs.delete(jobId);
  for (const [key, row] of disk.tasks) if (row.jobId === jobId) disk.tasks.delete(key);
}

function taskKey(row: TaskRow): string {
  return `${row.jobId}[${row.taskIndex}]#${row.epoch}`;
}

function outOfOrder(seq: number, previous: number): StoreFailure {
  return new StoreFailure(
    'io',
    `Record ${seq} does not follow record ${previous}, the last one stored; recover first.`,
  );
}
