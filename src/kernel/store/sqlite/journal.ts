// The journal and the snapshot in the tables: appending, replacing, trimming. Reading: recovery.ts.

import { crc32 } from 'node:zlib';
import { type Given, StoreFailure } from '../../ports/store.ts';
import { SNAPSHOT_PART_BYTES, TRIM_RECORDS } from './bounds.ts';
import type { Connection } from './connection.ts';
import type { Connect } from './history-queries.ts';
import { type PackedHistory, writeHistory } from './history-rows.ts';

export interface PackedCommit extends PackedHistory {
  readonly seq: number;
  readonly bytes: Uint8Array;
  readonly given: Given;
}

/** Number of the newest record, in the journal or in the snapshot; 0 when there is none. */
export function lastSeq(connection: Connection): number {
  const row = connection
    .statement(`SELECT max(
      coalesce((SELECT max(seq) FROM journal), 0),
      coalesce((SELECT seq FROM snapshot), 0)) AS seq`)
    .get();
  return Number(row?.['seq']);
}

/** Writes all commits in one transaction; the first must follow `previousSeq`. */
export function appendAll(
  connection: Connection,
  previousSeq: number,
  commits: readonly PackedCommit[],
): void {
  connection.transaction(() => {
    const insert = connection.statement('INSERT INTO journal (seq, crc, bytes) VALUES (?, ?, ?)');
    let previous = previousSeq;
    for (const commit of commits) {
      if (commit.seq !== previous + 1) throw outOfOrder(commit.seq, previous);
      insert.run(commit.seq, crc32(commit.bytes), commit.bytes);
      writeHistory(connection, commit);
      previous = commit.seq;
    }
  });
}

function outOfOrder(seq: number, previous: number): StoreFailure {
  return new StoreFailure(
    'io',
    `Record ${seq} does not follow record ${previous}, the last one stored; recover first.`,
  );
}

/**
 * Replaces the snapshot and trims the journal, in steps: parts of the new one are written beside
 * the old one, one small transaction makes them count, and only then are old rows deleted. A crash
 * at any step leaves the old snapshot with its records, or the new one.
 */
export function* snapshotInSteps(
  connect: Connect,
  seq: number,
  bytes: Uint8Array,
): Generator<void, void> {
  checkSnapshotSeq(connect(), seq);
  const generation = nextGeneration(connect());
  let part = 0;
  do {
    writePart(connect(), { generation, part, bytes });
    part += 1;
    yield;
  } while (part * SNAPSHOT_PART_BYTES < bytes.length);
  connect().transaction(() => {
    connect()
      .statement('INSERT OR REPLACE INTO snapshot (id, seq, generation) VALUES (1, ?, ?)')
      .run(seq, generation);
  });
  yield* dropParts(connect, generation);
  yield* trimJournal(connect, seq);
  connect().statement('PRAGMA wal_checkpoint(PASSIVE)').get();
}

function checkSnapshotSeq(connection: Connection, seq: number): void {
  const last = lastSeq(connection);
  if (seq > last)
    throw new StoreFailure('io', `No record ${seq} to snapshot; the last is ${last}.`);
  const kept = Number(connection.statement('SELECT max(seq) AS seq FROM snapshot').get()?.['seq']);
  if (seq < kept)
    throw new StoreFailure('io', `Snapshot ${seq} is older than the stored snapshot ${kept}.`);
}

/** Above every generation there is, those of snapshots a crash interrupted included. */
function nextGeneration(connection: Connection): number {
  const row = connection
    .statement('SELECT coalesce(max(generation), 0) + 1 AS next FROM snapshot_part')
    .get();
  return Number(row?.['next']);
}

function writePart(
  connection: Connection,
  write: { readonly generation: number; readonly part: number; readonly bytes: Uint8Array },
): void {
  const start = write.part * SNAPSHOT_PART_BYTES;
  const bytes = write.bytes.subarray(start, start + SNAPSHOT_PART_BYTES);
  connection.transaction(() => {
    connection
      .statement('INSERT INTO snapshot_part (generation, part, crc, bytes) VALUES (?, ?, ?, ?)')
      .run(write.generation, write.part, crc32(bytes), bytes);
  });
}

/** Drops the parts of every other snapshot; their pages are reused, so the file stays its size. */
function* dropParts(connect: Connect, kept: number): Generator<void, void> {
  while (changedRows(connect(), DROP_PARTS, [kept]) > 0) yield;
}

function* trimJournal(connect: Connect, seq: number): Generator<void, void> {
  while (changedRows(connect(), TRIM_JOURNAL, [seq, TRIM_RECORDS]) > 0) yield;
}

const DROP_PARTS = `DELETE FROM snapshot_part WHERE rowid IN
  (SELECT rowid FROM snapshot_part WHERE generation <> ? LIMIT 4)`;
const TRIM_JOURNAL = `DELETE FROM journal WHERE seq <= ?
  AND seq < (SELECT min(seq) FROM journal) + ?`;

function changedRows(connection: Connection, text: string, values: readonly number[]): number {
  return connection.transaction(() => Number(connection.statement(text).run(...values).changes));
}
