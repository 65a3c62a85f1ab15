// What the SQLite store says when it cannot work: each cause made for real.

import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { StoreFailure } from '../../../../src/kernel/ports/store.ts';
import { SqliteStore } from '../../../../src/kernel/store/sqlite/client.ts';
import { openSqliteStore } from '../../../../src/kernel/store/sqlite/open.ts';
import { APPLICATION_ID, SCHEMA_VERSION } from '../../../../src/kernel/store/sqlite/schema.ts';
import { killHard, runMounted, scriptPath, startUntil } from './support/child.ts';
import { newDirectory, openStore } from './support/directory.ts';
import { commitOf, job, jobRow } from './support/rows.ts';

function fails(reason: StoreFailure['reason'], words: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof StoreFailure, String(error));
    assert.equal(error.reason, reason, error.message);
    assert.match(error.message, words);
    return true;
  };
}

/** A store with `count` records, closed. */
async function written(t: TestContext, count: number): Promise<string> {
  const directory = newDirectory(t);
  const store = await openSqliteStore({ directory });
  for (let seq = 1; seq <= count; seq += 1) await store.append(commitOf(seq, [job(seq)], 2000));
  await store.close();
  return directory;
}

function inFile(directory: string, statements: string): void {
  const database = new DatabaseSync(join(directory, 'weft.db'));
  database.exec(statements);
  database.close();
}

async function readAll(directory: string): Promise<number> {
  const store = await openSqliteStore({ directory });
  try {
    return [...(await store.recover()).records].length;
  } finally {
    await store.close();
  }
}

test('a directory and its files are for their owner only', async (t) => {
  const directory = join(newDirectory(t), 'deep', 'state');
  const store = await openStore(t, directory);
  await store.append(commitOf(1));
  assert.equal(statSync(directory).mode & 0o777, 0o700);
  for (const name of ['weft.db', 'weft.db-wal', 'weft.db-shm', 'weft.lock', 'weft.pid']) {
    assert.equal(statSync(join(directory, name)).mode & 0o777, 0o600, name);
  }
});

test('a second head in the same process is told who holds the directory', async (t) => {
  const directory = newDirectory(t);
  const store = await openStore(t, directory);
  const words = new RegExp(`pid ${process.pid}\\b`);
  await assert.rejects(openSqliteStore({ directory }), fails('locked', words));
  // The refused one must not have taken the lock of the first away.
  await assert.rejects(openSqliteStore({ directory }), fails('locked', words));
  await store.append(commitOf(1));
});

test('a lock is held against other processes and goes with a killed one', async (t) => {
  const directory = newDirectory(t);
  const args = [scriptPath('./opens-once.ts'), directory, 'hold'];
  const { child } = await startUntil(args, (line) => line === 'opened');
  const words = new RegExp(`pid ${child.pid}\\b`);
  await assert.rejects(openSqliteStore({ directory }), fails('locked', words));
  await killHard(child);
  const store = await openStore(t, directory);
  assert.equal(readFileSync(join(directory, 'weft.pid'), 'utf8').trim(), String(process.pid));
  await store.close();
  assert.equal(existsSync(join(directory, 'weft.pid')), false);
});

test('a file that is no SQLite database is refused and left as it is', async (t) => {
  const directory = newDirectory(t);
  const path = join(directory, 'weft.db');
  writeFileSync(path, 'the shopping list\n'.repeat(500));
  const before = readFileSync(path);
  await assert.rejects(openSqliteStore({ directory }), fails('foreign', /move it away/i));
  assert.deepEqual(readFileSync(path), before);
});

test('a database of another program is refused and left as it is', async (t) => {
  const directory = newDirectory(t);
  inFile(directory, 'CREATE TABLE songs (title); PRAGMA application_id = 7');
  const before = readFileSync(join(directory, 'weft.db'));
  await assert.rejects(openSqliteStore({ directory }), fails('foreign', /another program/));
  assert.deepEqual(readFileSync(join(directory, 'weft.db')), before);
});

test('a file of a newer release is refused, with both versions', async (t) => {
  const directory = await written(t, 1);
  inFile(directory, 'PRAGMA user_version = 99');
  const words = new RegExp(`version 99.*up to ${SCHEMA_VERSION};`);
  await assert.rejects(openSqliteStore({ directory }), fails('newer', words));
});

test('a file half made by a killed head is made again', async (t) => {
  const directory = newDirectory(t);
  writeFileSync(join(directory, 'weft.db'), '');
  const store = await openStore(t, directory);
  await store.append(commitOf(1));
  await store.close();
  const database = new DatabaseSync(join(directory, 'weft.db'), { readOnly: true });
  assert.equal(database.prepare('PRAGMA application_id').get()?.['application_id'], APPLICATION_ID);
  database.close();
});

test('a missing record is found and named', async (t) => {
  const directory = await written(t, 10);
  inFile(directory, 'DELETE FROM journal WHERE seq = 4');
  await assert.rejects(
    readAll(directory),
    fails('corrupt', /record 4 is missing; the next one is 5/),
  );
});

test('a changed bit within a record is found by its checksum', async (t) => {
  const directory = await written(t, 10);
  const path = join(directory, 'weft.db');
  const bytes = readFileSync(path);
  const at = bytes.indexOf('record 7 ');
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  await assert.rejects(
    readAll(directory),
    fails('corrupt', /record 7 differs from what was written/),
  );
});

test('a file cut short is damaged, not empty', async (t) => {
  const directory = await written(t, 100);
  const path = join(directory, 'weft.db');
  truncateSync(path, Math.floor(statSync(path).size / 2 / 4096) * 4096);
  await assert.rejects(readAll(directory), fails('corrupt', /damaged|malformed/));
});

test('a directory that cannot be written is named read-only', async (t) => {
  const directory = newDirectory(t);
  const prepare = 'mount -t tmpfs -o size=4m,ro tmpfs "$1"';
  const { code, stdout, stderr } = await runMounted(prepare, './opens-once.ts', directory);
  assert.equal(code, 0, stderr);
  const { reason, message } = JSON.parse(stdout);
  assert.equal(reason, 'read_only', message);
  assert.match(message, /the mount options of its file system/);
});

test('a path through a file is refused in words', async (t) => {
  const file = join(newDirectory(t), 'file');
  writeFileSync(file, '');
  await assert.rejects(openSqliteStore({ directory: join(file, 'state') }), fails('io', /ENOTDIR/));
});

test('a full disk refuses whole commits, and all goes on once it is freed', async (t) => {
  const directory = newDirectory(t);
  const prepare = 'mount -t tmpfs -o size=8m tmpfs "$1"';
  const { code, stdout, stderr } = await runMounted(prepare, './fills-disk.ts', directory);
  assert.equal(code, 0, stderr);
  const seen = JSON.parse(stdout);
  assert.equal(seen.reason, 'full', seen.message);
  assert.match(seen.message, /the head continues when some is free/);
  assert.ok(seen.last > 0, 'it became full before anything was written');
  const kept = Array.from({ length: seen.last }, (_, index) => index + 1);
  assert.deepEqual(seen.afterFailure, kept);
  assert.deepEqual(seen.afterRestart, [...kept, seen.last + 1]);
  assert.deepEqual(seen.jobs, [...kept, seen.last + 1]);
  assert.equal(seen.behind, 'io');
  assert.equal(seen.couldWriteFull, 'none');
  assert.equal(seen.couldWriteFreed, 'enough');
});

test('the appends behind a refused one are refused too, and none leaves a trace', async (t) => {
  const store = await openStore(t, newDirectory(t));
  await store.append(commitOf(1));
  const seqs = [2, 4, 5];
  const settled = await Promise.allSettled(
    seqs.map((seq) => store.append(commitOf(seq, [job(seq)]))),
  );
  assert.ok(settled.slice(1).every((result) => result.status === 'rejected'));
  const kept = Array.from((await store.recover()).records, (record) => record.seq);
  const wasKept = settled[0]?.status === 'fulfilled';
  assert.deepEqual(kept, wasKept ? [1, 2] : [1]);
  assert.deepEqual(await store.jobs({ limit: 10 }), wasKept ? [jobRow(2)] : []);
  await store.append(commitOf(kept.length + 1));
});

test("a person's open write transaction delays commits and is named when it stays", async (t) => {
  const directory = newDirectory(t);
  const store = await openStore(t, directory);
  const person = new DatabaseSync(join(directory, 'weft.db'));
  t.after(() => person.close());
  person.exec('BEGIN IMMEDIATE');
  await assert.rejects(store.append(commitOf(1)), fails('locked', /another program/i));
  person.exec('ROLLBACK');
  await store.append(commitOf(1));
});

test('a thread that dies rejects what waits and all that comes, and nobody hangs', async () => {
  const text = `const { parentPort } = require('node:worker_threads');
    parentPort.postMessage({ kind: 'opened', warning: null });
    parentPort.once('message', () => { throw new Error('out of memory'); });`;
  const store = new SqliteStore(new Worker(text, { eval: true }), 'somewhere');
  await store.opened;
  const waiting = [store.append(commitOf(1)), store.jobs({ limit: 1 })];
  for (const promise of waiting) await assert.rejects(promise, fails('io', /out of memory/));
  await assert.rejects(store.recover(), fails('io', /out of memory/));
  await store.close();
  assert.match((await store.gone).message, /thread failed/);
});

test('a thread that ends before it opened the store is a failure to open', async () => {
  const store = new SqliteStore(new Worker('', { eval: true }), 'somewhere');
  await assert.rejects(store.opened, fails('io', /has ended/));
});

test('a copy of a store taken after close opens elsewhere', async (t) => {
  const directory = await written(t, 5);
  const other = join(newDirectory(t), 'copy');
  mkdirSync(other);
  copyFileSync(join(directory, 'weft.db'), join(other, 'weft.db'));
  assert.equal(await readAll(other), 5);
});
