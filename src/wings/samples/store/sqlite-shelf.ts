// The shelf on SQLite, in a file of its own: what is lost of it with a machine is the last minutes, and
// nothing of the cluster's state depends on it.

import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { SeriesChunk, TaskRow } from '../model/chunk.ts';
import type { OwnerUse, Shelf } from '../ports/shelf.ts';

const TASK_COLUMNS = [
  ...['jobId', 'epochId', 'node', 'owner', 'from', 'until', 'looks'],
  ...['cpuMilliAsked', 'cpuMilliSum', 'cpuMilliPeak'],
  ...['memoryBytesAsked', 'memoryBytesSum', 'memoryBytesPeak'],
  ...['gpuMilliAsked', 'gpuMilliSum', 'gpuMilliPeak', 'stepMs', 'cpu', 'memory', 'gpu'],
] as const satisfies readonly (keyof TaskRow)[];

const QUOTED = TASK_COLUMNS.map((name) => `"${name}"`).join(', ');

/** Raised when the tables change. */
const VERSION = 2;

const SCHEMA = `
  PRAGMA user_version = ${VERSION};
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = OFF;
  CREATE TABLE IF NOT EXISTS chunks (
    series TEXT NOT NULL, line INTEGER NOT NULL, start INTEGER NOT NULL, bytes BLOB NOT NULL,
    PRIMARY KEY (series, line, start)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS tasks (
    ${TASK_COLUMNS.map((name) => `"${name}" NOT NULL`).join(', ')},
    PRIMARY KEY ("jobId", "epochId", "node")
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS ended ON tasks ("until");
`;

const USE_OF_OWNERS = `
  SELECT owner, COUNT(*) AS tasks, SUM(looks) AS looks,
    SUM("cpuMilliAsked" * looks) AS cpuMilliAsked, SUM("cpuMilliSum") AS cpuMilliUsed,
    SUM("memoryBytesAsked" * 1.0 * looks) AS memoryBytesAsked,
    SUM("memoryBytesSum" * 1.0) AS memoryBytesUsed,
    SUM("gpuMilliAsked" * looks) AS gpuMilliAsked, SUM("gpuMilliSum") AS gpuMilliUsed
  FROM tasks WHERE "until" >= ? GROUP BY owner ORDER BY owner
`;

type Statement = ReturnType<DatabaseSync['prepare']>;

/** Throws when the file cannot be used. `:memory:`: it is kept nowhere. */
export function sqliteShelf(file: string): Shelf {
  const database = new DatabaseSync(file);
  const version = database.prepare('PRAGMA user_version').get()?.['user_version'];
  // Samples of another release are not worth to be carried over.
  if (version !== VERSION) database.exec('DROP TABLE IF EXISTS chunks; DROP TABLE IF EXISTS tasks');
  database.exec(SCHEMA);
  return new SqliteShelf(database);
}

class SqliteShelf implements Shelf {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, Statement>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  put(chunks: readonly SeriesChunk[], tasks: readonly TaskRow[]): void {
    this.#database.exec('BEGIN');
    try {
      const chunk = this.#prepared('INSERT OR REPLACE INTO chunks VALUES (?, ?, ?, ?)');
      for (const { series, line, start, bytes } of chunks) chunk.run(series, line, start, bytes);
      const places = TASK_COLUMNS.map(() => '?').join(', ');
      const task = this.#prepared(`INSERT OR REPLACE INTO tasks (${QUOTED}) VALUES (${places})`);
      for (const row of tasks) task.run(...TASK_COLUMNS.map((name): SQLInputValue => row[name]));
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  chunk(series: string, line: number, start: number): Uint8Array | null {
    const words = 'SELECT bytes FROM chunks WHERE series = ? AND line = ? AND start = ?';
    const row = this.#prepared(words).get(series, line, start);
    return (row?.['bytes'] as Uint8Array | undefined) ?? null;
  }

  chunks(series: string, line: number, from: number, to: number): readonly SeriesChunk[] {
    const words =
      'SELECT series, line, start, bytes FROM chunks ' +
      'WHERE series = ? AND line = ? AND start BETWEEN ? AND ? ORDER BY start';
    return this.#prepared(words).all(series, line, from, to) as unknown as SeriesChunk[];
  }

  tasksOf(jobId: number, max: number): readonly TaskRow[] {
    const words = `SELECT ${QUOTED} FROM tasks WHERE "jobId" = ? ORDER BY "from" DESC LIMIT ?`;
    return this.#prepared(words).all(jobId, max) as unknown as TaskRow[];
  }

  byOwner(since: number): readonly OwnerUse[] {
    const rows = this.#prepared(USE_OF_OWNERS).all(since) as unknown as OwnerUse[];
    return rows.map((row) => ({ ...row }));
  }

  dropChunks(line: number, before: number): void {
    this.#prepared('DELETE FROM chunks WHERE line = ? AND start < ?').run(line, before);
  }

  dropTasks(before: number, keepMax: number): void {
    this.#prepared('DELETE FROM tasks WHERE "until" < ?').run(before);
    // The oldest that still fit say from when on all are kept.
    const words = 'SELECT "until" FROM tasks ORDER BY "until" DESC LIMIT 1 OFFSET ?';
    const row = this.#prepared(words).get(keepMax);
    const until = row?.['until'];
    if (typeof until === 'number') {
      this.#prepared('DELETE FROM tasks WHERE "until" <= ?').run(until);
    }
  }

  bytes(): number {
    const count = this.#prepared('SELECT page_count AS n FROM pragma_page_count').get()?.['n'];
    const size = this.#prepared('SELECT page_size AS n FROM pragma_page_size').get()?.['n'];
    return Number(count ?? 0) * Number(size ?? 0);
  }

  close(): void {
    this.#database.close();
  }

  #prepared(words: string): Statement {
    const known = this.#statements.get(words);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(words);
    this.#statements.set(words, statement);
    return statement;
  }
}
