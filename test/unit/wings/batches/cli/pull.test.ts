// `weft batch pull`: by the names of jobs, without the folder that all outputs lie in.

import assert from 'node:assert/strict';
import { hash as hashOf } from 'node:crypto';
import { test } from 'node:test';
import type { BatchJobView } from '../../../../../src/wings/batches/api/batches.ts';
import { FakeHead } from '../../../kernel/cli/fake-head.ts';

const job = (name: string, id: string, epoch: number): BatchJobView => ({
  name,
  number: 0,
  id,
  state: 'done',
  outcome: 'completed',
  detail: null,
  epoch,
  nodes: ['n1'],
  startedAt: 1,
  endedAt: 2,
  exit: { code: 0 },
});

const entry = (path: string) => ({
  path,
  kind: 'file',
  size: 1,
  mode: 0o644,
  modifiedAt: 0,
  sha256: hashOf('sha256', 'x'),
});

test('files of the save folder are listed under the names of their jobs', async () => {
  const jobs = [job('re1', '7[0]', 1), job('re2', '7[1]', 0)];
  const entries = [entry('distribute_save/out/a'), entry('input/mesh')];
  const manifest = { index: 0, entries, isPartial: false, outcome: 'completed', missing: [] };
  await using head = await FakeHead.start({
    'GET /v1/batches/lab/heat': () => ({ json: { namespace: 'lab', name: 'heat', version: 1 } }),
    'GET /v1/batches/lab/heat/jobs': () => ({ json: { jobs, next: null } }),
    // As a head of an earlier release answers.
    'GET /v1/batches/lab/heat/builds': () => ({
      status: 404,
      json: {
        error: { code: 'route.unknown', kind: 'not_found', message: '', hint: null, details: {} },
      },
    }),
    'GET /v1/jobs/7': () => ({ json: { id: 7, taskCount: 2, taskCounts: { done: 2 } } }),
    'GET /v1/jobs/7/outputs': () => ({ json: { tasks: [{ index: 0 }], next: null } }),
    'GET /v1/jobs/7/outputs/0': () => ({ json: manifest }),
  });
  const listed = await head.weft('batch', 'pull', 'lab/heat', '--dry-run', '-o', 'name');
  assert.deepEqual([listed.out, listed.error], ['lab/heat/re1/out/a\n', '']);
  const none = await head.weft('batch', 'pull', 'lab/heat', '--dry-run', '--glob', '*.txt');
  assert.equal(none.out, 'Nothing matches.\n');
});
