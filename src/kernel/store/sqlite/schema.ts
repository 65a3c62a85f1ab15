// The tables, and how a file comes to have them. One entry of `UPGRADES` leads from each version
// to the next; entry 0 makes version 1. Entries are never edited once released.

import type { DatabaseSync } from 'node:sqlite';
import { StoreFailure } from '../../ports/store.ts';

/** "Weft" in ASCII; in the header of each of our files, so that a foreign one is never touched. */
export const APPLICATION_ID = 0x57656674;

// The history tables are not STRICT and have no checks: a strange value in a column that only
// people read must never keep the journal from being written.
const VERSION_1 = `
CREATE TABLE journal (
  seq   INTEGER PRIMARY KEY,
  crc   INTEGER NOT NULL,
  bytes BLOB NOT NULL
);
CREATE TABLE snapshot (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  seq        INTEGER NOT NULL,
  generation INTEGER NOT NULL
);
CREATE TABLE snapshot_part (
  generation INTEGER NOT NULL,
  part       INTEGER NOT NULL,
  crc        INTEGER NOT NULL,
  bytes      BLOB NOT NULL,
  PRIMARY KEY (generation, part)
);
CREATE TABLE scratch (
  id    INTEGER PRIMARY KEY CHECK (id = 1),
  bytes BLOB NOT NULL
);
CREATE TABLE jobs (
  job_id       INTEGER PRIMARY KEY,
  name         TEXT,
  owner        TEXT,
  partition    TEXT,
  command      TEXT,
  state        TEXT,
  outcome      TEXT,
  exit_code    INTEGER,
  signal       INTEGER,
  detail       TEXT,
  task_count   INTEGER,
  submitted_at INTEGER,
  started_at   INTEGER,
  ended_at     INTEGER,
  node_count   INTEGER,
  cpu_count    INTEGER,
  memory_bytes INTEGER,
  walltime_ms  INTEGER,
  outcome_counts TEXT,
  spec         TEXT
);
CREATE INDEX jobs_by_owner ON jobs (owner);
CREATE INDEX jobs_by_name ON jobs (name);
CREATE INDEX jobs_by_submission ON jobs (submitted_at);
CREATE TABLE tasks (
  job_id            INTEGER NOT NULL,
  task_index        INTEGER NOT NULL,
  epoch             INTEGER NOT NULL,
  final             INTEGER,
  outcome           TEXT,
  exit_code         INTEGER,
  signal            INTEGER,
  detail            TEXT,
  nodes             TEXT,
  started_at        INTEGER,
  ended_at          INTEGER,
  user_us           INTEGER,
  system_us         INTEGER,
  memory_peak_bytes INTEGER,
  PRIMARY KEY (job_id DESC, task_index, epoch)
) WITHOUT ROWID;
CREATE VIEW job_history AS
SELECT
  job_id, name, owner, partition, command, state, outcome, exit_code, signal, detail,
  task_count, node_count, cpu_count,
  round(memory_bytes / 1048576.0, 1) AS memory_mib,
  round(nullif(walltime_ms, 0) / 1000.0, 3) AS walltime_s,
  datetime(submitted_at / 1000, 'unixepoch') AS submitted_utc,
  datetime(started_at / 1000, 'unixepoch') AS started_utc,
  datetime(ended_at / 1000, 'unixepoch') AS ended_utc,
  round((started_at - submitted_at) / 1000.0, 3) AS waited_s,
  round((ended_at - started_at) / 1000.0, 3) AS elapsed_s,
  (SELECT round(total(user_us + system_us) / 1e6, 3) FROM tasks
    WHERE tasks.job_id = jobs.job_id) AS cpu_s,
  (SELECT round(max(memory_peak_bytes) / 1048576.0, 1) FROM tasks
    WHERE tasks.job_id = jobs.job_id) AS memory_peak_mib,
  (SELECT count(*) FROM tasks WHERE tasks.job_id = jobs.job_id AND NOT final) AS requeues
FROM jobs;
`;

/**
 * Made wherever it is missing, and no version of its own: a program without this line keeps it as
 * true as we do. In the order in which the newest ends are read.
 */
export const INDEXES = `
CREATE INDEX IF NOT EXISTS tasks_by_end ON tasks (ended_at, job_id, task_index, epoch);
`;

/** Columns of `tasks` that came later, made in the same way: an older program leaves them empty. */
const LATER_COLUMNS = {
  gpu_count: 'INTEGER',
  gpu_type: 'TEXT',
  held_cpus: 'INTEGER',
  held_memory_bytes: 'INTEGER',
} as const;

export function addColumns(database: DatabaseSync): void {
  const rows = database.prepare("SELECT name FROM pragma_table_info('tasks')").all();
  const known = new Set(rows.map(({ name }) => name));
  for (const [name, type] of Object.entries(LATER_COLUMNS)) {
    if (!known.has(name)) database.exec(`ALTER TABLE tasks ADD COLUMN ${name} ${type}`);
  }
}

const UPGRADES: readonly string[] = [VERSION_1];

/** What this program writes, as `PRAGMA user_version`. */
export const SCHEMA_VERSION = UPGRADES.length;

/** Checks whose file this is and brings it to our version; a new file gets every table. */
export function prepareSchema(database: DatabaseSync, path: string): void {
  const version = pragma(database, 'user_version');
  if (!isEmpty(database)) checkIdentity(database, path);
  if (version > SCHEMA_VERSION) throw newer(version, path);
  if (version === SCHEMA_VERSION) return;
  const steps = UPGRADES.slice(version).join('');
  // One transaction, header fields included: a crash leaves the old version or the new one.
  database.exec(`BEGIN IMMEDIATE; ${steps}
    PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
}

function checkIdentity(database: DatabaseSync, path: string): void {
  if (pragma(database, 'application_id') === APPLICATION_ID) return;
  throw new StoreFailure(
    'foreign',
    `${path} is an SQLite database of another program; nothing in it was changed. ` +
      'Move it away or give the head another directory.',
  );
}

function isEmpty(database: DatabaseSync): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
}

function newer(version: number, path: string): StoreFailure {
  return new StoreFailure(
    'newer',
    `${path} has schema version ${version}, this program knows up to ${SCHEMA_VERSION}; nothing ` +
      'was changed. Start the newer release that wrote it, or restore a copy made before.',
  );
}

function pragma(database: DatabaseSync, name: 'user_version' | 'application_id'): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}
