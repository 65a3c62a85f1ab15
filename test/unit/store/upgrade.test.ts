// A store of an earlier schema is brought to ours when it is opened, with everything in it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { SCHEMA_VERSION } from '../../../src/store/sqlite/schema.ts';
import { newDirectory, openStore } from './support/directory.ts';
import { bytesOf, commitOf, job } from './support/rows.ts';

/** A store of schema 1, told by `sqlite3 weft.db .dump`. */
const VERSION_1 = join(import.meta.dirname, '../../fixtures/stores/version-1.sql');

function storeOfVersion1(t: TestContext): string {
  const directory = newDirectory(t);
  const database = new DatabaseSync(join(directory, 'weft.db'));
  database.exec(readFileSync(VERSION_1, 'utf8'));
  database.close();
  return directory;
}

test('a history without time limits gets them from the specifications it kept', async (t) => {
  const directory = storeOfVersion1(t);
  const store = await openStore(t, directory);
  const rows = await store.jobs({ limit: 9 });
  assert.deepEqual(
    rows.map((row) => [row.jobId, row.walltimeMs]),
    // One without a limit, and one whose specification cannot be read.
    [
      [3, null],
      [2, 0],
      [1, 3_600_000],
    ],
  );
  assert.deepEqual(
    (await store.tasks({ limit: 9 })).map((row) => row.jobId),
    [2, 1],
  );
});

test('how the tasks of an array ended is found in the specifications that kept it', async (t) => {
  const directory = storeOfVersion1(t);
  const database = new DatabaseSync(join(directory, 'weft.db'));
  const spec = JSON.stringify({ name: 'sweep-2', ended: { completed: 3, failed: 1 } });
  database.prepare('UPDATE jobs SET spec = ? WHERE job_id = 2').run(spec);
  database.close();
  const store = await openStore(t, directory);
  const rows = await store.jobs({ limit: 9 });
  assert.deepEqual(
    rows.map(({ outcomeCounts }) => outcomeCounts),
    [null, '{"completed":3,"failed":1}', null],
  );
});

test('the journal of an earlier schema is read, and goes on in ours', async (t) => {
  const directory = storeOfVersion1(t);
  const store = await openStore(t, directory);
  const { records } = await store.recover();
  const kept = [...records].map(({ seq, bytes }) => [seq, Buffer.from(bytes)]);
  assert.deepEqual(kept, [[1, bytesOf(1)]]);
  await store.append(commitOf(2, [job(4, { walltimeMs: 0 })]));
  assert.equal((await store.jobs({ limit: 1 }))[0]?.walltimeMs, 0);
  await store.close();
  const database = new DatabaseSync(join(directory, 'weft.db'), { readOnly: true });
  const version = database.prepare('PRAGMA user_version').get()?.['user_version'];
  const view = database.prepare('SELECT job_id, walltime_s FROM job_history ORDER BY job_id').all();
  database.close();
  assert.equal(version, SCHEMA_VERSION);
  const limits = view.map((row) => [row['job_id'], row['walltime_s']]);
  assert.deepEqual(limits, [
    [1, 3600],
    [2, null],
    [3, null],
    [4, null],
  ]);
});
