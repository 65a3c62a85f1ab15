// A list that ends at its limit says that there is more, on standard error.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeHead, refusal } from './fake-head.ts';
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

const JOB = {
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

test('so does a history', async (t) => {
  const page = { jobs: [], tasks: [], next: 3, nextTask: null };
  const head = await FakeHead.start({
    'GET /v1/history': ({ query }) => {
      const next = query['before'] === undefined ? 3 : null;
      return { json: { ...page, jobs: [JOB], next } };
    },
  });
  t.after(() => head[Symbol.asyncDispose]());
  const cut = await head.weft('history', '--limit', '1', '-o', 'wide');
  assert.match(cut.error, MORE);
  assert.match(cut.out, / LIMIT .*\n.* 1h /);
  assert.equal((await head.weft('history', '--limit', '2')).error, '');
});

test('a history is of several jobs, newest first, and names those that there are not', async (t) => {
  const head = await FakeHead.start({
    'GET /v1/history': ({ query }) => {
      const id = Number(query['jobId']);
      const jobs = id < 40 ? [{ ...JOB, id }] : [];
      return { json: { jobs, tasks: [], next: null, nextTask: null } };
    },
    'GET /v1/jobs/41': () => ({ json: jobView({ id: 41 }) }),
    'GET /v1/jobs/77': () => ({
      status: 404,
      json: refusal('job.not_found', 'not_found', 'No job 77.'),
    }),
  });
  t.after(() => head[Symbol.asyncDispose]());
  const history = (...words: string[]) => head.weft('history', '-o', 'name', ...words);
  const all = await history('28', '30', '41', '29', '28');
  assert.deepEqual(all, { code: 0, out: '30\n29\n28\n', error: '' }, '41 is none of the kind');
  const some = await history('28', '77');
  assert.deepEqual([some.out, some.error], ['28\n', 'weft: 77: No job 77.\n']);
  assert.notEqual(some.code, 0);
  const cut = await history('28', '29', '--limit', '1');
  assert.equal(cut.out, '29\n');
  assert.match(cut.error, MORE);
  const alone = await history('77');
  assert.deepEqual([alone.code, alone.out], [some.code, '']);
});
