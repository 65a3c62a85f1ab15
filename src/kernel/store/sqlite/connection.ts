// One open database file: pragmas, cached statements, transactions.

import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { hasWords } from '../../base/search-words.ts';
import { BUSY_TIMEOUT_MS, CHECKPOINT_PAGES, LOG_FILE_BYTES_MAX } from './bounds.ts';
import { createPrivate } from './lock.ts';
import { addColumns, INDEXES, prepareSchema } from './schema.ts';

export interface Connection {
  /** Prepared once per text; texts are made of constants only. */
  statement(text: string): StatementSync;
  /** All of `work` or nothing; durable when it returns. */
  transaction<T>(work: () => T): T;
  close(): void;
}

export function openConnection(directory: string): Connection {
  const path = join(directory, 'weft.db');
  createPrivate(path);
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    configure(database, path);
  } catch (error) {
    database.close();
    throw error;
  }
  return new OpenConnection(database);
}

function configure(database: DatabaseSync, path: string): void {
  prepareSchema(database, path);
  // FULL syncs the log at each commit: without it a power cut could take back what was answered.
  database.exec(`PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
    PRAGMA journal_size_limit = ${LOG_FILE_BYTES_MAX};
    PRAGMA temp_store = MEMORY;`);
  // SQLite opens a file it may not write as read-only without a word; this is where it shows.
  database.exec('BEGIN IMMEDIATE; ROLLBACK');
  database.exec(INDEXES);
  addColumns(database);
  addSearch(database);
}

/** Searches in letters of any alphabet; SQLite's own know those of English only. */
function addSearch(database: DatabaseSync): void {
  let known: { readonly list: string; readonly words: string[] } = { list: '', words: [] };
  database.function('weft_has_words', { deterministic: true }, (text, list) => {
    if (known.list !== list) known = { list: String(list), words: String(list).split('\n') };
    return hasWords(String(text ?? ''), known.words) ? 1 : 0;
  });
}

class OpenConnection implements Connection {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  statement(text: string): StatementSync {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(text);
    this.#statements.set(text, statement);
    return statement;
  }

  transaction<T>(work: () => T): T {
    this.statement('BEGIN IMMEDIATE').run();
    try {
      const result = work();
      this.statement('COMMIT').run();
      return result;
    } catch (error) {
      // After some errors SQLite has rolled back by itself, and a second time would be an error.
      if (this.#database.isTransaction) this.statement('ROLLBACK').run();
      throw error;
    }
  }

  close(): void {
    this.#database.close();
  }
}
