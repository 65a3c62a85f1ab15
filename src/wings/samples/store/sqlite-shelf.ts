// The shelf on SQLite, in a file of its own: what is lost of it with a machine is the last minutes,
// and nothing of the cluster's state depends on it.

import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { Holder, JobSums, SeriesChunk, TaskRow } from '../model/chunk.ts';
import type { OldChunks, OwnerUse, Shelf } from '../ports/shelf.ts';

const TASK_COLUMNS = [
  ...['jobId', 'epochId', 'node', 'owner', 'from', 'until', 'looks'],
  ...['cpuMilliAsked', 'cpuMilliSum', 'cpuMilliPeak'],
  ...['memoryBytesAsked', 'memoryBytesSum', 'memoryBytesPeak'],
  ...['gpuMilliAsked', 'gpuMilliSum', 'gpuMilliPeak', 'stepMs', 'cpu', 'memory', 'gpu'],
  ...['cards', 'readBytes', 'writtenBytes'],
] as const satisfies readonly (keyof TaskRow)[];

const QUOTED = TASK_COLUMNS.map((name) => `"${name}"`).join(', ');

/** What sums are made of: an index has it all, since rows with their curves are long to read. */
const SUMMED = [
  ...['"looks"', '"cpuMilliAsked"', '"cpuMilliSum"', '"memoryBytesAsked"', '"memoryBytesSum"'],
  ...['"gpuMilliAsked"', '"gpuMilliSum"'],
].join(', ');
const DISK = '"readBytes", "writtenBytes"';
const PEAKS = '"stepMs", "cpuMilliPeak", "memoryBytesPeak", "gpuMilliPeak"';

/** Raised when the tables change. */
const VERSION = 4;
/** Columns that versions before did not have, with what stands there for what is not known. */
const ADDED = [
  { since: 3, name: 'cards', unknown: "''" },
  { since: 4, name: 'readBytes', unknown: '0' },
  { since: 4, name: 'writtenBytes', unknown: '0' },
] as const;
/** That of release 0.2. */
const OLDEST = 2;

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
  CREATE INDEX IF NOT EXISTS owned ON tasks ("owner", "until", "from", ${SUMMED});
  CREATE INDEX IF NOT EXISTS held ON tasks ("node", "until", "from", "owner", "cards")
    WHERE "cards" <> '';
  DROP INDEX IF EXISTS of_job;
  CREATE INDEX IF NOT EXISTS job_sums ON tasks ("jobId", "from", ${SUMMED}, ${PEAKS}, ${DISK});
`;

/** Which part of a row came after `?1`: looks are spread evenly over it. */
const PART = `CASE WHEN "from" >= ?1 THEN 1.0 ELSE ("until" - ?1) * 1.0 / ("until" - "from") END`;

function useOfOwners(isOne: boolean): string {
  const used = ['cpuMilli', 'memoryBytes', 'gpuMilli'].flatMap((figure) => [
    `SUM("${figure}Asked" * 1.0 * looks * part) AS "${figure}Asked"`,
    `SUM("${figure}Sum" * 1.0 * part) AS "${figure}Used"`,
  ]);
  return `
    SELECT owner, COUNT(*) AS tasks, CAST(ROUND(SUM(looks * part)) AS INTEGER) AS looks,
      ${used.join(', ')}
    FROM (
      SELECT owner, ${SUMMED}, ${PART} AS part
      FROM tasks INDEXED BY owned WHERE "until" >= ?1 ${isOne ? 'AND owner = ?2' : ''}
    ) GROUP BY owner ORDER BY owner
  `;
}

const USE_OF_JOB = `
  SELECT COUNT(*) AS parts, ${[
    'looks',
    'cpuMilliSum',
    'memoryBytesSum',
    'gpuMilliSum',
    'readBytes',
    'writtenBytes',
  ]
    .map((name) => `TOTAL("${name}") AS "${name}"`)
    .join(', ')},
    ${[
      ...['from', 'stepMs', 'cpuMilliAsked', 'cpuMilliPeak'],
      ...['memoryBytesAsked', 'memoryBytesPeak', 'gpuMilliAsked', 'gpuMilliPeak'],
    ]
      .map((name) => `IFNULL(MAX("${name}"), 0) AS "${name}"`)
      .join(', ')}
  FROM tasks INDEXED BY job_sums WHERE "jobId" = ?
`;

type Statement = ReturnType<DatabaseSync['prepare']>;

/** Throws when the file cannot be used. `:memory:`: it is kept nowhere. */
export function sqliteShelf(file: string): Shelf {
  const database = new DatabaseSync(file);
  const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
  if (version >= OLDEST && version < VERSION) addColumns(database, version);
  else if (version !== VERSION) {
    // Those of another release are not worth to be carried over.
    database.exec('DROP TABLE IF EXISTS chunks; DROP TABLE IF EXISTS tasks');
  }
  database.exec(SCHEMA);
  return new SqliteShelf(database);
}

/** A head that ended in between has some of them, and the version of before. */
function addColumns(database: DatabaseSync, version: number): void {
  const has = database.prepare(`SELECT 1 FROM pragma_table_info('tasks') WHERE name = ?`);
  for (const { since, name, unknown } of ADDED) {
    if (since <= version || has.get(name) !== undefined) continue;
    database.exec(`ALTER TABLE tasks ADD COLUMN "${name}" NOT NULL DEFAULT ${unknown}`);
  }
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

  task(jobId: number, epochId: string, node: string): TaskRow | null {
    const words = `SELECT ${QUOTED} FROM tasks WHERE "jobId" = ? AND "epochId" = ? AND "node" = ?`;
    return (this.#prepared(words).get(jobId, epochId, node) as TaskRow | undefined) ?? null;
  }

  sumsOf(jobId: number): JobSums {
    return { ...(this.#prepared(USE_OF_JOB).get(jobId) as unknown as JobSums) };
  }

  holders(node: string, since: number, max: number): readonly Holder[] {
    const words =
      'SELECT "epochId", "owner", "from", "until", "cards" FROM tasks INDEXED BY held ' +
      `WHERE "node" = ? AND "until" >= ? AND "cards" <> '' ORDER BY "until" DESC LIMIT ?`;
    return this.#prepared(words).all(node, since, max) as unknown as Holder[];
  }

  byOwner(since: number, owner: string | null): readonly OwnerUse[] {
    const statement = this.#prepared(useOfOwners(owner !== null));
    const rows = owner === null ? statement.all(since) : statement.all(since, owner);
    return (rows as unknown as OwnerUse[]).map((row) => ({ ...row }));
  }

  dropChunks(after: string, olds: readonly OldChunks[], max: number): string | null {
    const next = this.#prepared('SELECT series FROM chunks WHERE series > ? LIMIT 1');
    const words = 'DELETE FROM chunks WHERE series = ? AND line = ? AND start < ?';
    const drop = this.#prepared(words);
    let series = after;
    for (let count = 0; count < max; count += 1) {
      const found = next.get(series)?.['series'];
      if (typeof found !== 'string') return null;
      series = found;
      for (const { line, before } of olds) drop.run(series, line, before);
    }
    return series;
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
