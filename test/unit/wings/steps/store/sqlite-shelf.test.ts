// What is kept of steps that are over: by job and task, in pages, and how long.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import type { KeptStep } from '../../../../../src/wings/steps/ports/shelf.ts';
import { sqliteShelf } from '../../../../../src/wings/steps/store/sqlite-shelf.ts';

function step(jobId: number, index: number | null, number: number, endedAt = 1): KeptStep {
  const text = `${jobId}${index === null ? '' : `[${index}]`}.${number}`;
  return { jobId, index, number, owner: jobId === 2 ? 'bob' : 'ann', known: 1, endedAt, text };
}

function fileOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'steps-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, 'steps.db');
}

const ids = (steps: readonly KeptStep[]) => steps.map(({ text }) => text);

test('[Z9] steps outlive the program, by job and by task', (t) => {
  const file = fileOf(t);
  const first = sqliteShelf(file);
  for (const one of [step(1, 7, 0), step(1, 7, 1), step(1, 8, 0), step(2, null, 0)]) first.put(one);
  first.close();
  const shelf = sqliteShelf(file);
  assert.deepEqual(ids(shelf.ofJob(1, undefined, 9)), ['1[7].0', '1[7].1', '1[8].0']);
  assert.deepEqual(ids(shelf.ofJob(1, undefined, 2)), ['1[7].1', '1[8].0']);
  assert.deepEqual(ids(shelf.ofJob(1, 7, 9)), ['1[7].0', '1[7].1']);
  assert.deepEqual([shelf.nextOf(1, 7), shelf.nextOf(2, null), shelf.nextOf(3, null)], [2, 1, 0]);
  shelf.close();
});

test('[Z9] pages of several jobs, of one owner or of all', () => {
  const shelf = sqliteShelf(':memory:');
  for (const one of [step(3, null, 0), step(1, null, 0), step(2, null, 0), step(1, null, 1)])
    shelf.put(one);
  const wish = { from: 1, to: 3, owner: null, after: null, max: 3 };
  assert.deepEqual(ids(shelf.among(wish)), ['1.0', '1.1', '2.0']);
  const after = { jobId: 1, index: null, number: 0 };
  assert.deepEqual(ids(shelf.among({ ...wish, after })), ['1.1', '2.0', '3.0']);
  assert.deepEqual(ids(shelf.among({ ...wish, owner: 'bob' })), ['2.0']);
  assert.deepEqual(ids(shelf.among({ ...wish, from: 3 })), ['3.0']);
  shelf.close();
});

test('[Z9] the oldest go first, by age and by count', () => {
  const shelf = sqliteShelf(':memory:');
  for (const number of [1, 2, 3, 4, 5]) shelf.put(step(1, null, number, number));
  shelf.drop(2, 9);
  assert.deepEqual(ids(shelf.ofJob(1, null, 9)), ['1.2', '1.3', '1.4', '1.5']);
  shelf.drop(0, 2);
  assert.deepEqual(ids(shelf.ofJob(1, null, 9)), ['1.4', '1.5']);
  shelf.close();
});

test('a file of a later release is left as it is', (t) => {
  const file = fileOf(t);
  const database = new DatabaseSync(file);
  database.exec('PRAGMA user_version = 99');
  database.close();
  assert.throws(() => sqliteShelf(file), /version 99/);
});
