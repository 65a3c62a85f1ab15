// docs/accounting.md says the truth: each of its statements runs, each column is explained.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { newDirectory, openStore } from './support/directory.ts';
import { commitOf, job, task } from './support/rows.ts';

const PAGE = readFileSync(new URL('../../../../docs/accounting.md', import.meta.url), 'utf8');

async function historyOf(t: TestContext): Promise<DatabaseSync> {
  const directory = newDirectory(t);
  const store = await openStore(t, directory);
  const times = { submittedAt: 1_000, startedAt: 3_500, endedAt: 13_500 };
  const done = { state: 'done', outcome: 'completed', spec: '{"walltimeMs":60000}', ...times };
  const rows = [
    job(1, done),
    task(1, { final: false, outcome: 'node_fail' }),
    task(1, { epoch: 2 }),
    job(2),
  ];
  await store.append(commitOf(1, rows));
  const database = new DatabaseSync(join(directory, 'weft.db'));
  t.after(() => database.close());
  return database;
}

test('the view shows waiting, use and requeues in its units', async (t) => {
  const database = await historyOf(t);
  const [first, second] = database.prepare('SELECT * FROM job_history ORDER BY job_id').all();
  const { submitted_utc, waited_s, elapsed_s, cpu_s, memory_mib, memory_peak_mib, requeues } =
    first ?? {};
  assert.deepEqual(
    { submitted_utc, waited_s, elapsed_s, cpu_s, memory_mib, memory_peak_mib, requeues },
    {
      submitted_utc: '1970-01-01 00:00:01',
      waited_s: 2.5,
      elapsed_s: 10,
      cpu_s: 3.5,
      memory_mib: 100,
      memory_peak_mib: 20,
      requeues: 1,
    },
  );
  assert.equal(second?.['elapsed_s'], null);
});

test('every statement of the accounting page runs', async (t) => {
  const database = await historyOf(t);
  const blocks = Array.from(PAGE.matchAll(/```sql\n(.*?)```/gs), ([, text = '']) => text);
  const statements = blocks.flatMap((block) => block.split(/;\n/)).filter((text) => text !== '');
  assert.ok(statements.length >= 6, 'the statements were not found on the page');
  for (const statement of statements) database.prepare(statement).all();
  assert.equal(database.prepare('SELECT count(*) AS count FROM tasks').get()?.['count'], 0);
});

test('every column of the history is explained on the accounting page', async (t) => {
  const database = await historyOf(t);
  const columns = database.prepare(
    `SELECT DISTINCT name FROM (SELECT name FROM pragma_table_info('jobs')
      UNION ALL SELECT name FROM pragma_table_info('tasks')
      UNION ALL SELECT name FROM pragma_table_info('job_history'))`,
  );
  for (const { name } of columns.all()) assert.ok(PAGE.includes(`\`${name}\``), String(name));
});
