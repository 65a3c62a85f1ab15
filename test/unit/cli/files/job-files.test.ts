// `weft job` of a job with files: what travels with it, what is kept, and what is.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatFileSet } from '../../../../src/core/files/file-set.ts';
import { type Answers, FakeHead, refusal } from '../fake-head.ts';
import { doneJob } from '../views.ts';

const HASH = 'a'.repeat(64);

function detail(more: object): object {
  const done = doneJob('completed', { code: 0 });
  return {
    ...{ ...done, id: 42, directory: null, files: {}, dependencies: [], waitsFor: [] },
    ...{ beginAt: null, nice: 0, qos: 'normal', onNodeLoss: { kind: 'requeue' }, requeue: true },
    ...{ retriesMax: 0, retryOf: null, warning: null, ranksPerNode: null, runningMax: null },
    ...{ umask: 18, cancelledBy: null, usage: { userUs: 0, systemUs: 0, memoryPeakBytes: 0 } },
    ...{ program: null, environment: null, staging: null, ...more },
  };
}

async function show(answers: Answers, job: object = {}): Promise<readonly string[]> {
  await using head = await FakeHead.start({
    'GET /v1/jobs/42': () => ({ json: detail(job) }),
    'GET /v1/jobs/42/outputs': () => ({ json: { tasks: [], next: null } }),
    ...answers,
  });
  const said = await head.weft('job', '42');
  assert.equal(said.code, 0, said.error);
  return said.out.split('\n').filter((line) => /^(Input|Keeps|Kept):/.test(line));
}

test('what travels, what is to be kept and what is kept are said in a line each', async () => {
  const file = { kind: 'file', mode: 0o644, sha256: HASH as never } as const;
  const names = ['a.csv', 'mesh/m1', 'mesh/m2', 'b', 'c'];
  const common = names.map((path) => ({ ...file, path, size: 1000 }));
  const tasks = (files: number) => [{ files, bytes: 2048, leftOut: 1 }];
  const lines = await show(
    {
      [`GET /v1/blobs/${HASH}`]: () => ({ text: formatFileSet({ version: 1, common }) }),
      'GET /v1/jobs/42/outputs': ({ query }) => ({
        json:
          query['cursor'] === '5' ? { tasks: tasks(2), next: null } : { tasks: tasks(1), next: 5 },
      }),
    },
    { staging: { inputs: HASH, outputs: ['r/**', '!*.tmp'] } },
  );
  assert.deepEqual(lines, [
    'Input:       5 files with 4.9K: a.csv, b, c and 1 more',
    "Keeps:       'r/**' '!*.tmp'",
    'Kept:        3 files with 4K, 2 left out: weft pull 42',
  ]);
});

test('others than its owner see that it has files, and no more', async () => {
  const hidden = refusal('blob.not_found', 'not_found', 'No.');
  const denied = refusal('auth.not_owner', 'permission_denied', 'No.');
  const lines = await show(
    {
      [`GET /v1/blobs/${HASH}`]: () => ({ status: 404, json: hidden }),
      'GET /v1/jobs/42/outputs': () => ({ status: 403, json: denied }),
    },
    { staging: { inputs: HASH, outputs: [] }, owner: 'bob' },
  );
  assert.deepEqual(lines, ['Input:       files of bob', 'Keeps:       nothing']);
});

test('a job without files has no line about them', async () => {
  assert.deepEqual(await show({}), []);
  const unasked = { 'GET /v1/jobs/42/outputs': () => assert.fail('nobody needs to know') };
  assert.deepEqual(await show(unasked, { directory: '/work' }), []);
});
