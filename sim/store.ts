// The head's disk as the simulator gives it: commits take time, a crash loses what was not
// committed, and writes can be refused or be kept in spite of an error.

import type { HistoryQuery, UsageQuery } from '../src/kernel/ports/history.ts';
import {
  type Commit,
  type PruneRule,
  type Recovered,
  type Room,
  type Store,
  StoreFailure,
} from '../src/kernel/ports/store.ts';
import type { Streams } from './chance.ts';
import type { Life, Time } from './clock.ts';
import { type MemoryDisk, MemoryStore } from './memory-store.ts';

/** Where the head dies next. */
export type CommitCrash = 'none' | 'before' | 'after';

export interface StoreWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly life: Life;
  readonly commitMs: { readonly min: number; readonly max: number };
  /** Asked when a commit is due; has ended the life when it says `before` or `after`. */
  readonly crashAt: () => CommitCrash;
  readonly crash: () => void;
  /** Share of commits that are kept but reported as failed. */
  readonly syncFailures: () => number;
  /** A record is durable now, whether or not anybody will hear of it. */
  readonly onDurable: (commit: Commit) => void;
}

export class SimStore implements Store {
  readonly #world: StoreWorld;
  readonly #disk: MemoryDisk;
  readonly #inner: MemoryStore;
  #pending: Commit | null = null;

  constructor(disk: MemoryDisk, world: StoreWorld) {
    this.#world = world;
    this.#disk = disk;
    this.#inner = new MemoryStore({ disk, commitSoon: (commit) => this.#commitLater(commit) });
  }

  /** The program is gone: what waits to be committed is lost. */
  crash(): void {
    this.#inner.crash();
  }

  recover(): Promise<Recovered> {
    return this.#inner.recover();
  }

  async append(commit: Commit): Promise<void> {
    this.#pending = commit;
    await this.#inner.append(commit);
    if (!this.#world.streams.of('sync').happens(this.#world.syncFailures())) return;
    throw new StoreFailure('io', 'The disk reports an error after the write.');
  }

  saveSnapshot(seq: number, bytes: Uint8Array): Promise<void> {
    return this.#inner.saveSnapshot(seq, bytes);
  }

  probe(): Promise<Room> {
    return this.#inner.probe();
  }

  jobs(query: HistoryQuery): ReturnType<Store['jobs']> {
    return this.#inner.jobs(query);
  }

  tasks(query: HistoryQuery): ReturnType<Store['tasks']> {
    return this.#inner.tasks(query);
  }

  usage(query: UsageQuery): ReturnType<Store['usage']> {
    return this.#inner.usage(query);
  }

  prune(rule: PruneRule): ReturnType<Store['prune']> {
    return this.#inner.prune(rule);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #commitLater(commit: () => void): void {
    const { time, streams, commitMs, life } = this.#world;
    const record = this.#pending;
    this.#pending = null;
    const delay = commitMs.min + streams.of('commit').fraction() * (commitMs.max - commitMs.min);
    time.after(delay, () => {
      if (!life.alive) return;
      const crash = record === null ? 'none' : this.#world.crashAt();
      if (crash === 'before') return this.#world.crash();
      commit();
      if (record !== null && this.#disk.failure === null) this.#world.onDurable(record);
      if (crash === 'after') this.#world.crash();
    });
  }
}
