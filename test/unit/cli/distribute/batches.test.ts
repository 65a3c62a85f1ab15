// `distribute server-status` and `kill`: batches of the cluster by the seed's words.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BatchJobView, BatchView } from '../../../../src/api/batches.ts';
import { type Answers, FakeHead } from '../fake-head.ts';

function batch(title: string, state: BatchView['state'] = 'running'): BatchView {
  const [namespace = '', rest = ''] = title.split('/');
  const [name = '', version = '1'] = rest.split('@');
  return {
    ...{ title, namespace, name, version: Number(version), owner: 'ann', origin: 'distribute' },
    ...{ state, outcome: state === 'done' ? 'completed' : null, jobCount: 4, jobIds: [7] },
    ...{ open: {}, ended: {}, after: [], createdAt: 0, endedAt: null, failedBuilds: [] },
  };
}

function job(name: string, more: Partial<BatchJobView> = {}): BatchJobView {
  return {
    ...{ name, number: 0, id: '7[0]', state: 'pending', outcome: null, detail: null, epoch: 0 },
    ...{ nodes: [], startedAt: null, endedAt: null, exit: null },
    ...more,
  };
}

const listing = (...batches: BatchView[]): Answers => ({
  'GET /v1/batches': () => ({ json: { batches } }),
});

test('server-status tells what is left, what runs where and for how long, and what waits', async () => {
  const startedAt = Date.now() - (3 * 3600 + 4 * 60 + 5) * 1000;
  const jobs = [
    job('re100', { state: 'done', outcome: 'completed' }),
    job('re200', { state: 'running', nodes: ['lab1'], startedAt }),
    job('re3000', { state: 'staging_in', nodes: ['lab2'], startedAt }),
    job('re400'),
    // It ran on a node that is gone.
    job('re500', { startedAt }),
  ];
  await using head = await FakeHead.start({
    ...listing(batch('ann/new', 'pending'), batch('ann/old', 'done'), batch('ann/sweep@2')),
    'GET /v1/batches/ann/sweep@2/jobs': () => ({ json: { jobs, next: null } }),
    'GET /v1/batches/ann/new/jobs': () => ({ json: { jobs: [job('a')], next: null } }),
  });
  const { code, out, error } = await head.distribute('/work', 'server-status', '--ip', '127.0.0.1');
  assert.deepEqual([code, error], [0, '']);
  assert.deepEqual(
    out
      .trimEnd()
      .replaceAll(/:0[5-9]s/g, ':05s')
      .split('\n'),
    [
      'ann/sweep@2: 4 of 5 jobs left',
      '  re200   lab1  03h:04m:05s',
      '  re3000  lab2  03h:04m:05s  staging_in',
      '  waiting: re400, re500',
      'ann/new: 1 of 1 job left',
      '  waiting: a',
    ],
  );
});

test('server-status prints nothing when nothing waits or runs, and says so beside', async () => {
  await using head = await FakeHead.start(listing(batch('ann/old', 'done')));
  const said = await head.distribute('/work', 'server-status');
  assert.deepEqual(said, { code: 0, out: '', error: 'distribute: no batch waits or runs\n' });
});

test('kill takes the name alone, with its namespace, or with its version', async () => {
  const cancelled: string[] = [];
  const cancel = (title: string) => () => {
    cancelled.push(title);
    return { json: { count: 2 } };
  };
  await using head = await FakeHead.start({
    ...listing(batch('ann/a@2'), batch('ann/a', 'done'), batch('bob/b')),
    'POST /v1/batches/ann/a@2/cancel': cancel('ann/a@2'),
    'POST /v1/batches/bob/b/cancel': cancel('bob/b'),
  });
  for (const name of ['a', 'ann/a@2', 'a@2', 'b', 'bob/b']) {
    const { code, out } = await head.distribute('/work', 'kill', '--ip', '127.0.0.1', name);
    assert.equal(code, 0);
    assert.match(out, /^2 jobs of \w+\/\S+ are cancelled\.\n$/);
  }
  assert.deepEqual(cancelled, ['ann/a@2', 'ann/a@2', 'ann/a@2', 'bob/b', 'bob/b']);
});

test('kill never takes the first of several, and its exit codes are honest', async () => {
  await using head = await FakeHead.start({
    ...listing(batch('ann/a'), batch('bob/a'), batch('ann/over', 'done')),
    'POST /v1/batches/ann/over/cancel': () => ({ json: { count: 0 } }),
  });
  const two = await head.distribute('/work', 'kill', 'a');
  assert.equal(two.code, 2);
  assert.match(two.error, /several batches are called a: ann\/a, bob\/a; write one of these/);
  const over = await head.distribute('/work', 'kill', 'over');
  assert.deepEqual([over.code, over.out], [5, '']);
  assert.equal(over.error, 'distribute: no job of ann/over waits or runs\n');
  const none = await head.distribute('/work', 'kill', 'nothing');
  assert.deepEqual([none.code, none.error], [3, 'distribute: There is no batch nothing.\n']);
});
