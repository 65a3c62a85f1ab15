// Steps on SQLite, in a file of their own: what a machine loses of it with its power is the last
// moments, and nothing of the cluster's state depends on it.

import { DatabaseSync } from 'node:sqlite';
import type { KeptStep, ShelfWish, StepShelf } from '../ports/shelf.ts';

/** Raised when the table changes. */
const VERSION = 1;

/** Which task: no index is -1, so that it comes first and is comparable. */
const SCHEMA = `
  PRAGMA user_version = ${VERSION};
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = OFF;
  CREATE TABLE IF NOT EXISTS steps (
    job INTEGER NOT NULL, task INTEGER NOT NULL, number INTEGER NOT NULL, owner TEXT NOT NULL,
    ended INTEGER NOT NULL, known INTEGER NOT NULL, shown TEXT NOT NULL,
    PRIMARY KEY (job, task, number)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS ended ON steps (ended);
`;

const PUT = `
  INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
  SET ended = excluded.ended, known = excluded.known, shown = excluded.shown
  WHERE excluded.known >= known
`;
const OF_JOB = `
  SELECT * FROM (
    SELECT * FROM steps WHERE job = ?1 AND task BETWEEN ?2 AND ?3 AND known > 0
    ORDER BY task DESC, number DESC LIMIT ?4
  ) ORDER BY task, number
`;
const AMONG = `
  SELECT * FROM steps
  WHERE job BETWEEN ?1 AND ?2 AND (job, task, number) > (?3, ?4, ?5) AND (?6 IS NULL OR owner = ?6)
    AND known > 0
  ORDER BY job, task, number LIMIT ?7
`;
const NEXT = 'SELECT IFNULL(MAX(number) + 1, 0) AS next FROM steps WHERE job = ? AND task = ?';
const DROP = 'DELETE FROM steps WHERE ended < ?';
const LAST_KEPT = 'SELECT ended FROM steps ORDER BY ended DESC LIMIT 1 OFFSET ?';

const TASK_MAX = Number.MAX_SAFE_INTEGER;

type Row = Record<'job' | 'task' | 'number' | 'ended' | 'known', number> &
  Record<'owner' | 'shown', string>;
type Statement = ReturnType<DatabaseSync['prepare']>;

/** Throws when the file cannot be used. `:memory:`: it is kept nowhere. */
export function sqliteShelf(file: string): StepShelf {
  const database = new DatabaseSync(file);
  const version = database.prepare('PRAGMA user_version').get()?.['user_version'];
  if (typeof version === 'number' && version > VERSION) {
    database.close();
    throw new Error(`its tables are of version ${version}, and this release knows ${VERSION}`);
  }
  database.exec(SCHEMA);
  return new SqliteShelf(database);
}

class SqliteShelf implements StepShelf {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, Statement>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  put({ jobId, index, number, owner, known, endedAt, text }: KeptStep): void {
    this.#prepared(PUT).run(jobId, taskOf(index), number, owner, endedAt, known, text);
  }

  ofJob(jobId: number, index: number | null | undefined, max: number): readonly KeptStep[] {
    const [from, to] = index === undefined ? [-1, TASK_MAX] : [taskOf(index), taskOf(index)];
    return this.#rows(this.#prepared(OF_JOB).all(jobId, from, to, max));
  }

  among({ from, to, owner, after, max }: ShelfWish): readonly KeptStep[] {
    const { jobId, index, number } = after ?? { jobId: -1, index: null, number: -1 };
    const statement = this.#prepared(AMONG);
    return this.#rows(statement.all(from, to, jobId, taskOf(index), number, owner, max));
  }

  nextOf(jobId: number, index: number | null): number {
    return Number(this.#prepared(NEXT).get(jobId, taskOf(index))?.['next'] ?? 0);
  }

  drop(before: number, keepMax: number): void {
    this.#prepared(DROP).run(before);
    const last = this.#prepared(LAST_KEPT).get(keepMax)?.['ended'];
    if (typeof last === 'number') this.#prepared(DROP).run(last + 1);
  }

  close(): void {
    this.#database.close();
  }

  #rows(rows: readonly unknown[]): KeptStep[] {
    return (rows as readonly Row[]).map(({ job, task, number, owner, ended, known, shown }) => ({
      jobId: job,
      index: task < 0 ? null : task,
      number,
      owner,
      known,
      endedAt: ended,
      text: shown,
    }));
  }

  #prepared(words: string): Statement {
    const known = this.#statements.get(words);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(words);
    this.#statements.set(words, statement);
    return statement;
  }
}

function taskOf(index: number | null): number {
  return index ?? -1;
}
