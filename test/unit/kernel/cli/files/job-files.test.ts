// `weft job` of a job with files: what travels with it, and what is to be kept.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatFileSet } from '../../../../../src/kernel/files/file-set.ts';
import { type Answers, FakeHead, refusal } from '../fake-head.ts';
import { doneJob } from '../views.ts';

const HASH = 'a'.repeat(64);

function detail(more: object): object {
  const done = doneJob('completed', { code: 0 });
  return {
    ...done,
    id: 42,
    directory: null,
    files: {},
    dependencies: [],
    waitsFor: [],
    beginAt: null,
    nice: 0,
    qos: 'normal',
    onNodeLoss: { kind: 'requeue' },
    requeue: true,
    retriesMax: 0,
    retryOf: null,
    warning: null,
    ranksPerNode: null,
    runningMax: null,
    umask: 18,
    cancelledBy: null,
    usage: { userUs: 0, systemUs: 0, memoryPeakBytes: 0 },
    program: null,
    environment: null,
    staging: null,
    outputs: null,
    ...more,
  };
}

async function show(answers: Answers, job: object = {}): Promise<readonly string[]> {
  await using head = await FakeHead.start({
    'GET /v1/jobs/42': () => ({ json: detail(job) }),
    ...answers,
  });
  const said = await head.weft('job', '42');
  assert.equal(said.code, 0, said.error);
  return said.out.split('\n').filter((line) => /^(Input|Keeps|Kept):/.test(line));
}

test('what travels and what is to be kept are said in a line each', async () => {
  const file = { kind: 'file', mode: 0o644, sha256: HASH as never } as const;
  const names = ['a.csv', 'mesh/m1', 'mesh/m2', 'b', 'c'];
  const common = names.map((path) => ({ ...file, path, size: 1000 }));
  const lines = await show(
    { [`GET /v1/blobs/${HASH}`]: () => ({ text: formatFileSet({ version: 1, common }) }) },
    { staging: { inputs: HASH, outputs: ['r/**', '!*.tmp'] } },
  );
  assert.deepEqual(lines, [
    'Input:       5 files with 4.9K: a.csv, b, c and 1 more',
    "Keeps:       'r/**' '!*.tmp'",
  ]);
});

test('others than its owner see that it has files, and no more', async () => {
  const hidden = refusal('blob.not_found', 'not_found', 'No.');
  const lines = await show(
    { [`GET /v1/blobs/${HASH}`]: () => ({ status: 404, json: hidden }) },
    { staging: { inputs: HASH, outputs: [] }, owner: 'bob' },
  );
  assert.deepEqual(lines, ['Input:       files of bob', 'Keeps:       nothing']);
});

test('a job without files has no line about them', async () => {
  assert.deepEqual(await show({}), []);
  const unused = { inputs: HASH, outputs: [] };
  assert.deepEqual(await show({}, { directory: '/work', staging: unused }), []);
});

test('what was kept is said with a unit, also when it is small', async () => {
  const outputs = { tasks: 1, files: 2, bytes: 6, leftOut: 0, more: false };
  assert.deepEqual(await show({}, { outputs }), ['Kept:        2 files, 6 bytes; weft pull 42']);
});
