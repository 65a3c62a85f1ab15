// A list that ends at its limit says that there is more, on standard error.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeHead } from './fake-head.ts';
import { jobView } from './views.ts';

const MORE = /^weft: only 1 job shown; raise --limit\n$/;

test('a list of jobs that is cut says so, also by priority, and a whole one says nothing', async (t) => {
  const head = await FakeHead.start({
    'GET /v1/jobs': ({ query }) => {
      const isByPriority = query['sort'] === 'priority';
      const next = query['before'] === undefined && !isByPriority ? 7 : null;
      return { json: { jobs: [jobView({ id: 7 })], next, more: isByPriority } };
    },
  });
  t.after(() => head[Symbol.asyncDispose]());
  const cut = await head.weft('jobs', '--limit', '1', '-o', 'name');
  assert.equal(cut.out, '7\n');
  assert.match(cut.error, MORE);
  assert.match((await head.weft('jobs', '--limit', '1', '--sort', 'priority')).error, MORE);
  assert.equal((await head.weft('jobs', '--limit', '2')).error, '');
});

test('so does a history', async (t) => {
  const page = { jobs: [], tasks: [], next: 3, nextTask: null };
  const job = {
    id: 3,
    name: 'j',
    owner: 'alice',
    partition: 'default',
    command: 'j',
    state: 'done',
    outcome: { kind: 'completed', exit: { code: 0 }, process: null, detail: null },
    taskCount: 1,
    submittedAt: 0,
    startedAt: null,
    runStartedAt: null,
    endedAt: null,
    nodeCount: 1,
    cpuCount: 1,
    memoryBytes: 1024,
    walltimeMs: 3_600_000,
  };
  const head = await FakeHead.start({
    'GET /v1/history': ({ query }) => {
      const next = query['before'] === undefined ? 3 : null;
      return { json: { ...page, jobs: [job], next } };
    },
  });
  t.after(() => head[Symbol.asyncDispose]());
  const cut = await head.weft('history', '--limit', '1', '-o', 'wide');
  assert.match(cut.error, MORE);
  assert.match(cut.out, / LIMIT .*\n.* 1h /);
  assert.equal((await head.weft('history', '--limit', '2')).error, '');
});
