// The head's side of the store's thread: packs, asks and waits. No file is touched here, so the
// event loop never waits for a disk.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { unreachable } from '../../base/assert.ts';
import type { HistoryQuery, JobRow, TaskRow, UsageQuery, UsageRow } from '../../ports/history.ts';
import {
  type Commit,
  type Pruned,
  type PruneRule,
  type Recovered,
  type Room,
  type Store,
  StoreFailure,
} from '../../ports/store.ts';
import { COPY_BYTES } from './bounds.ts';
import { packHistory } from './history-rows.ts';
import { type Answer, type Ask, type Request, unpackFailure } from './protocol.ts';
import { type RecoveredPages, recordsOf } from './recovery.ts';

interface Pending {
  resolve(value: unknown): void;
  reject(failure: StoreFailure): void;
}

/** The Store port over a thread that runs `worker.ts` or, in tests, something that fails. */
export class SqliteStore implements Store {
  /** Rejects when the thread could not open the directory. In words what is not as it should be. */
  readonly opened: Promise<string | null>;
  /** Resolves when the thread has ended, asked or not: nothing can be kept any more. */
  readonly gone: Promise<StoreFailure>;
  readonly #thread: Worker;
  readonly #directory: string;
  readonly #exited: Promise<unknown>;
  readonly #pending = new Map<number, Pending>();
  #opening: Pending | undefined;
  #tellGone: (failure: StoreFailure) => void = () => undefined;
  #nextId = 1;
  /** The newest snapshot on its way to the thread. */
  #copying: Promise<unknown> | undefined;
  /** Set once the thread is gone or told to go; every later request gets it. */
  #ended: StoreFailure | undefined;

  constructor(thread: Worker, directory: string) {
    this.#thread = thread;
    this.#directory = directory;
    this.#exited = new Promise((resolve) => thread.once('exit', resolve));
    this.opened = new Promise((resolve, reject) => {
      this.#opening = { resolve: (warning) => resolve(warning as string | null), reject };
    });
    this.gone = new Promise((resolve) => {
      this.#tellGone = resolve;
    });
    thread.on('message', (answer: Answer) => this.#receive(answer));
    thread.on('error', (error) => this.#end(`The store's thread failed: ${String(error)}`, error));
    thread.on('exit', () => this.#end("The store's thread has ended."));
  }

  async recover(): Promise<Recovered> {
    const { snapshot, snapshotSeq, pages, loss, isElsewhere, room } = (await this.#ask({
      kind: 'recover',
    })) as RecoveredPages & Pick<Recovered, 'loss' | 'isElsewhere' | 'room'>;
    return {
      snapshot,
      snapshotSeq,
      records: { [Symbol.iterator]: () => recordsOf(pages) },
      loss,
      isElsewhere,
      room,
    };
  }

  async append(commit: Commit): Promise<void> {
    const bytes = ownCopy(commit.bytes);
    const { seq, given } = commit;
    const packed = { seq, bytes, given, ...packHistory(commit.history) };
    await this.#ask({ kind: 'append', commit: packed }, [bytes.buffer]);
  }

  async saveSnapshot(seq: number, bytes: Uint8Array): Promise<void> {
    const copying = copyInTurns(bytes);
    this.#copying = copying;
    const copy = await copying;
    await this.#ask({ kind: 'snapshot', seq, bytes: copy }, [copy.buffer]);
  }

  async probe(): Promise<Room> {
    return (await this.#ask({ kind: 'probe' })) as Room;
  }

  async jobs(query: HistoryQuery): Promise<JobRow[]> {
    return (await this.#ask({ kind: 'jobs', query })) as JobRow[];
  }

  async tasks(query: HistoryQuery): Promise<TaskRow[]> {
    return (await this.#ask({ kind: 'tasks', query })) as TaskRow[];
  }

  async usage(query: UsageQuery): Promise<UsageRow[]> {
    return (await this.#ask({ kind: 'usage', query })) as UsageRow[];
  }

  async prune(rule: PruneRule): Promise<Pruned> {
    return (await this.#ask({ kind: 'prune', rule })) as Pruned;
  }

  /** Everything asked before is done first. Asking twice is fine. */
  async close(): Promise<void> {
    await this.#copying;
    if (this.#ended === undefined) {
      const closing = this.#ask({ kind: 'close' });
      this.#ended = this.#failure('The store is closed.');
      await closing;
    }
    await this.#exited;
  }

  #ask(ask: Ask, transfer: ArrayBuffer[] = []): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#thread.postMessage({ ...ask, id } satisfies Request, transfer);
    });
  }

  #receive(answer: Answer): void {
    switch (answer.kind) {
      case 'opened':
        this.#opening?.resolve(answer.warning);
        break;
      case 'open_failed':
        this.#opening?.reject(unpackFailure(answer.failure));
        break;
      case 'appended':
        this.#settle(answer.ids, (pending) => pending.resolve(undefined));
        break;
      case 'value':
        this.#settle([answer.id], (pending) => pending.resolve(answer.value));
        break;
      case 'failed':
        this.#refuse(answer.ids, unpackFailure(answer.failure));
        break;
      default:
        unreachable(answer);
    }
  }

  #settle(ids: readonly number[], how: (pending: Pending) => void): void {
    for (const id of ids) {
      const pending = this.#pending.get(id);
      this.#pending.delete(id);
      if (pending !== undefined) how(pending);
    }
  }

  #refuse(ids: readonly number[], failure: StoreFailure): void {
    this.#settle(ids, (pending) => pending.reject(failure));
  }

  /** Nobody waits for a thread that is gone. */
  #end(what: string, cause?: unknown): void {
    const failure = this.#failure(`${what} Start the head again; it reads the journal.`, cause);
    this.#ended ??= failure;
    this.#tellGone(failure);
    this.#opening?.reject(failure);
    this.#refuse([...this.#pending.keys()], failure);
  }

  #failure(what: string, cause?: unknown): StoreFailure {
    return new StoreFailure('io', `Store ${this.#directory}: ${what}`, cause);
  }
}

/** A copy with a buffer of its own, which can be moved: encoders reuse the one they return. */
function ownCopy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

/** 50 MB at once would hold the event loop for 150 ms, longer than a heartbeat should wait. */
async function copyInTurns(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const copy = new Uint8Array(bytes.length);
  for (let start = 0; start < bytes.length; start += COPY_BYTES) {
    copy.set(bytes.subarray(start, start + COPY_BYTES), start);
    await nextTurn();
  }
  return copy;
}
