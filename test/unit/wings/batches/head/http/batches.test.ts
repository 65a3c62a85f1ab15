// Batches over the API: submitted whole, shown with each of their jobs, changed by their owner.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LaunchOrder } from '../../../../../../src/kernel/model/orders.ts';
import { eventually, startAgent, startWorld } from '../../../../kernel/head/http/fixture.ts';

const program = { kind: 'script' as const, text: '#!/bin/sh\neval "$1"\n', args: ['{line}'] };
const each = ['a', 'b'].map((name) => ({ name, line: `exit ${name === 'a' ? 0 : 3}` }));
const part = { submission: { program, each }, numbers: [0, 1], prints: ['x', 'y'] };
const body = { namespace: 'lab', name: 'heat', parts: [part] };
const params = { namespace: 'lab', name: 'heat' };

test('[B1, B6] a batch is submitted, runs, is shown, retried and removed', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const alice = await world.client('alice');
  const made = await alice.call('submitBatch', { body });
  const named = { title: 'lab/heat', namespace: 'lab', name: 'heat', version: 1 };
  assert.deepEqual(made, { ...named, jobCount: 2, again: false });
  await assert.rejects(alice.call('submitBatch', { body }), { code: 'batch.taken' });
  await eventually(() => agent.launches.length === 2);
  assert.deepEqual(agent.launches[1]?.program, { ...program, args: ['exit 3'] });
  for (const order of agent.launches) agent.ended(order, order.place.index === 0 ? 0 : 3);
  const [jobId] = (await alice.call('getBatch', { params })).jobIds;
  await alice.call('waitForJob', { params: { id: String(jobId) } });
  // Its script is the same for all batches: names say more.
  const { jobs: rows } = await alice.call('history', { query: { jobId } });
  assert.equal(rows[0]?.command, 'batch lab/heat: a, b');
  assert.equal(
    (await alice.call('getJob', { params: { id: String(jobId) } })).command,
    'batch lab/heat: a, b',
  );
  const shown = await alice.call('getBatch', { params });
  assert.deepEqual(
    [shown.state, shown.outcome, shown.ended],
    [...['done', 'failed'], { completed: 1, failed: 1 }],
  );
  const { jobs, next } = await alice.call('listBatchJobs', { params, query: { limit: 1 } });
  assert.deepEqual(
    [jobs[0]?.name, jobs[0]?.outcome, jobs[0]?.nodes, next],
    [...['a', 'completed'], ['n1'], 0],
  );
  const onlyB = await alice.call('listBatchJobs', { params, query: { name: 'b' } });
  assert.deepEqual(
    onlyB.jobs.map(({ name, exit }) => [name, exit]),
    [['b', { code: 3 }]],
  );
  const bob = await world.client('bob');
  await assert.rejects(bob.call('retryBatch', { params }), { code: 'batch.not_owner' });
  await assert.rejects(bob.call('removeBatch', { params }), { code: 'batch.not_owner' });
  assert.equal((await alice.call('retryBatch', { params })).jobCount, 1);
  await assert.rejects(alice.call('removeBatch', { params }), { code: 'batch.not_done' });
  await eventually(() => agent.launches.length === 3);
  await alice.call('cancelBatch', { params });
  agent.ended(agent.launches[2] as LaunchOrder, 3);
  const [, again] = (await alice.call('getBatch', { params })).jobIds;
  await alice.call('waitForJob', { params: { id: String(again) } });
  await alice.call('removeBatch', { params });
  await assert.rejects(alice.call('getBatch', { params }), { code: 'batch.not_found' });
});

test('a batch is shown with no job done whose files have not been counted', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const alice = await world.client('alice');
  await alice.call('submitBatch', { body });
  await eventually(() => agent.launches.length === 2);
  const { amountsOfAll } = world.archive;
  t.mock.method(world.archive, 'amountsOfAll', async (jobIds: readonly number[]) => {
    const amounts = await amountsOfAll.call(world.archive, jobIds);
    for (const order of agent.launches) agent.ended(order, 0);
    await alice.call('waitForJob', { params: { id: String(jobIds[0]) } });
    return amounts;
  });
  assert.notEqual((await alice.call('getBatch', { params })).state, 'done');
  t.mock.restoreAll();
  assert.equal((await alice.call('getBatch', { params })).state, 'done');
});

test('a name without a version is the newest, and the answer says which that was', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const alice = await world.client('alice');
  await world.admin.call('drainNode', { params: { name: 'n1' }, body: { reason: 'test' } });
  const build = 'b'.repeat(40);
  for (const mode of ['new', 'new_version'] as const) {
    await alice.call('submitBatch', { body: { ...body, mode, build } });
  }
  // Whoever types what is listed gets what was listed.
  const { batches } = await alice.call('listBatches');
  assert.deepEqual(
    batches.map(({ title }) => title),
    ['lab/heat@2', 'lab/heat@1'],
  );
  const old = { ...params, name: 'heat@1' };
  assert.equal((await alice.call('getBatch', { params: old })).title, 'lab/heat@1');
  const done = { title: 'lab/heat@2', count: 1 };
  assert.deepEqual(await alice.call('rebuildBatch', { params }), done);
  assert.deepEqual(await alice.call('cancelBatch', { params }), { ...done, count: 2 });
  const removed = { tasks: 0, files: 0, bytes: 0 };
  assert.deepEqual(await alice.call('removeBatch', { params }), { ...done, removed });
  const first = { ...params, name: 'heat@1' };
  assert.equal((await alice.call('cancelBatch', { params: first })).title, 'lab/heat');
});

test('a task that is cancelled while it waits for its second start keeps the first', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const alice = await world.client('alice');
  await alice.call('submitBatch', { body });
  await eventually(() => agent.launches.length === 2);
  await world.admin.call('drainNode', { params: { name: 'n1' }, body: { reason: 'test' } });
  const [first, second] = agent.launches as [LaunchOrder, LaunchOrder];
  const id = String(first.place.jobId);
  await alice.call('requeueJob', { params: { id } });
  for (const order of [first, second]) agent.ended(order, 3);
  await eventually(async () => {
    const { open } = await alice.call('getBatch', { params });
    return open.pending === 2;
  });
  await alice.call('cancelBatch', { params });
  const { jobs } = await alice.call('listBatchJobs', { params, query: {} });
  assert.deepEqual(
    jobs.map(({ outcome, epoch, nodes }) => [outcome, epoch, nodes]),
    [
      ['cancelled', 1, ['n1']],
      ['cancelled', 1, ['n1']],
    ],
  );
});

test('[B1] names that cannot be folders, and items without a name, are refused', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const alice = await world.client('alice');
  const twice = { ...part, submission: { program, each: [{ name: '..', line: '' }] } };
  for (const wrong of [
    { ...body, namespace: '../up' },
    { ...body, name: 'heat@2' },
    { ...body, after: ['heat'] },
    { ...body, parts: [twice] },
    { ...body, parts: [{ ...part, submission: { program, each: [{ line: 'true' }] } }] },
  ]) {
    await assert.rejects(alice.call('submitBatch', { body: wrong }), { code: 'argument.invalid' });
  }
  assert.equal((await alice.call('listBatches')).batches.length, 0);
});
