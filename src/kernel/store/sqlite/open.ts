// The Store port on SQLite, in a thread of its own.

import { Worker } from 'node:worker_threads';
import { SqliteStore } from './client.ts';

export interface SqliteStoreOptions {
  /** Made if it is not there, with mode 0700; on a local disk, as WAL needs shared memory. */
  readonly directory: string;
  /** Go on without records that are missing, or with a new file where the old one is gone. */
  readonly acceptLoss?: boolean;
  /** Paths in the directory that are there only where a store was, too. */
  readonly traces?: readonly string[];
  /** Called with words about what is not as it should be, without keeping the store from work. */
  readonly warn?: (words: string) => void;
}

/** Rejects with `StoreFailure`: `locked` when another head has the directory, and all others. */
export async function openSqliteStore({
  warn,
  ...options
}: SqliteStoreOptions): Promise<SqliteStore> {
  const thread = new Worker(threadUrl(), { workerData: options, name: 'weft-store' });
  const store = new SqliteStore(thread, options.directory);
  const warning = await store.opened;
  if (warning !== null) warn?.(warning);
  return store;
}

/** The compiler rewrites the ends of imports, but not of this name. */
function threadUrl(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url);
}
