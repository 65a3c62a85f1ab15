// History that goes is written to a file first, and does not go where that cannot be written.

import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { PruneRule, Store } from '../../../../src/kernel/ports/store.ts';
import { newDirectory, openStore } from './support/directory.ts';
import { commitOf, job, task } from './support/rows.ts';

const RULE: PruneRule = {
  endedBefore: 50,
  jobsMax: null,
  settledBefore: 1000,
  exportAs: 'history-2026-11',
};
const ended = (endedAt: number) => ({ state: 'done', outcome: 'completed', endedAt });

async function withHistory(t: TestContext) {
  const directory = newDirectory(t);
  const store = await openStore(t, directory);
  const old = job(1, { name: 'line\nof two', submittedAt: 1, ...ended(10) });
  const rows = [old, task(1), task(1, { epoch: 2 }), job(2, { submittedAt: 2, ...ended(90) })];
  await store.append(commitOf(1, rows));
  return { store, folder: join(directory, 'exported') };
}

const linesIn = (folder: string) =>
  readFileSync(join(folder, 'history-2026-11.jsonl'), 'utf8').split('\n');

async function idsOf(store: Store): Promise<number[]> {
  return (await store.jobs({ limit: 9 })).map(({ jobId }) => jobId);
}

test('[Y4] rows that go are in the file, each as one line, for its user alone', async (t) => {
  const { store, folder } = await withHistory(t);
  assert.deepEqual(await store.prune(RULE), { jobs: 1, isDone: true });
  const [first, second, third, last] = linesIn(folder);
  const read = [first, second, third].map((line) => JSON.parse(line ?? ''));
  assert.deepEqual(
    read.map(({ table, job_id, epoch }) => [table, job_id, epoch]),
    [
      ['tasks', 1, 1],
      ['tasks', 1, 2],
      ['jobs', 1, undefined],
    ],
  );
  assert.deepEqual([read[2].name, read[2].ended_at, last], ['line\nof two', 10, '']);
  assert.equal(statSync(join(folder, 'history-2026-11.jsonl')).mode & 0o777, 0o600);
  assert.deepEqual(await idsOf(store), [2]);
});

test('[Y4] the next ones are behind them, also behind half a line of a machine that went off', async (t) => {
  const { store, folder } = await withHistory(t);
  await store.prune(RULE);
  appendFileSync(join(folder, 'history-2026-11.jsonl'), '{"table":"jo');
  await store.prune({ ...RULE, endedBefore: 100 });
  const lines = linesIn(folder);
  assert.equal(lines[3], '{"table":"jo');
  assert.deepEqual(JSON.parse(lines[4] ?? '').job_id, 2);
  assert.deepEqual(lines.slice(5), ['']);
});

test('[Y4] nothing goes where the file cannot be written, and all of it does later', async (t) => {
  const { store, folder } = await withHistory(t);
  writeFileSync(folder, 'in the way');
  await assert.rejects(store.prune(RULE), /exported/);
  assert.deepEqual(await idsOf(store), [2, 1]);
  await store.append(commitOf(2, [job(3)]));
  rmSync(folder);
  mkdirSync(folder);
  assert.equal((await store.prune(RULE)).jobs, 1);
  assert.equal(linesIn(folder).length, 4);
});
