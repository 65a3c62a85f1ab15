// `weft retry` of some tasks: what the head is asked.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeHead } from './fake-head.ts';
import { jobView } from './views.ts';

test('[J27] tasks of one array that are named are one retry', async () => {
  await using head = await FakeHead.start({
    'GET /v1/jobs/9': () => ({ json: { ...jobView({ id: 9, array: '0-99' }), staging: null } }),
    'POST /v1/jobs/9/retry': () => ({
      json: { jobId: 10, taskCount: 3, directory: null, again: false },
    }),
  });
  const said = await head.weft('retry', '9[50]', '9[12-13]');
  assert.deepEqual([said.out, said.error], ['10\n', '']);
  assert.deepEqual(bodies(head).at(-1), { indices: '50,12,13' });
  await head.weft('retry', '9[50]', '9');
  assert.deepEqual(bodies(head).at(-1), {}, 'the whole job is named, too');
});

test('a retry that is refused says nothing about its files before', async () => {
  const refusal = { error: { code: 'job.not_found', kind: 'not_found', message: 'No job 9[7].' } };
  await using head = await FakeHead.start({
    'POST /v1/jobs/9/retry': () => ({ status: 404, json: refusal }),
  });
  const said = await head.weft('retry', '9[7]');
  assert.equal(said.error, 'weft: No job 9[7].\n');
  assert.equal(head.work.length, 1);
});

function bodies(head: FakeHead): unknown[] {
  return head.work.filter(({ method }) => method === 'POST').map(({ body }) => body);
}
