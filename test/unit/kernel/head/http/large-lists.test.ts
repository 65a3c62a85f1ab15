// What is asked of a head that has very many jobs, or jobs of very many tasks.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, startAgent, startWorld, TRUE } from './fixture.ts';

test('columns say of jobs that go on what their views say', async (t) => {
  const world = await startWorld(t);
  const { admin } = world;
  const agent = await startAgent(t, world, 'n1');
  await admin.call('submitJob', { body: { ...TRUE, name: 'over' } });
  agent.ended(await agent.launch(), 0);
  await admin.call('waitForJob', { params: { id: '1' } });
  await admin.call('submitJob', { body: { ...TRUE, name: 'run', walltimeMs: 60_000 } });
  agent.started(await agent.launch(2));
  const array = { indices: '0-9', runningMax: 2 };
  await admin.call('submitJob', { body: { ...TRUE, held: true, array } });
  await admin.call('submitJob', { body: { ...TRUE, held: true } });
  const query = { state: 'active', limit: 2 } as const;
  await eventually(async () => {
    const { jobs } = await admin.call('listJobs', { query: { state: 'running' } });
    return jobs.length === 1;
  });
  for (const before of [undefined, 3]) {
    const whole = await admin.call('listJobs', { query: { ...query, before } });
    const got = await admin.call('listJobs', { query: { ...query, before, columns: true } });
    assert.deepEqual([got.jobs, got.next], [[], whole.next]);
    const { jobs } = whole;
    assert.deepEqual(got.columns, {
      id: jobs.map(({ id }) => id),
      name: jobs.map(({ name }) => name),
      owner: jobs.map(({ owner }) => owner),
      partition: jobs.map(({ partition }) => partition),
      state: jobs.map(({ state }) => state),
      reason: jobs.map(({ reason }) => reason?.kind ?? null),
      held: jobs.map(({ held }) => held),
      array: jobs.map((job) => job.array),
      runningMax: jobs.map(({ runningMax = null }) => runningMax),
      taskCounts: jobs.map((job) => (job.array === null ? null : job.taskCounts)),
      startedAt: jobs.map(({ startedAt }) => startedAt),
      runStartedAt: jobs.map(({ runStartedAt }) => runStartedAt),
      nodes: jobs.map(({ nodes }) => nodes),
      nodeCount: jobs.map(({ request }) => request.nodeCount),
      walltimeMs: jobs.map(({ walltimeMs }) => walltimeMs),
    });
  }
  for (const state of [undefined, 'all', 'done'] as const) {
    const asked = admin.call('listJobs', { query: { state, columns: true } });
    await assert.rejects(asked, /columns are of jobs that are not done/);
  }
});

test('of an array the tasks that have begun are told, and which ones wait between them', async (t) => {
  const world = await startWorld(t);
  const { admin } = world;
  const agent = await startAgent(t, world, 'n1');
  const array = { indices: '0-8', runningMax: 2 };
  const { jobId } = await admin.call('submitJob', { body: { ...TRUE, array } });
  const params = { id: String(jobId) };
  const look = async (only: 'begun' | 'active', more: { limit?: number; after?: number } = {}) => {
    const { tasks, ...rest } = await admin.call('listTasks', { params, query: { only, ...more } });
    return { tasks: tasks.map(({ index, state }) => `${index} ${state}`), ...rest };
  };
  agent.ended(await agent.launch(), 0);
  const orders = [await agent.launch(2), await agent.launch(3)];
  for (const order of orders) agent.started(order);
  const running = ['1 running', '2 running'];
  await eventually(async () => (await look('active')).tasks.join() === running.join());
  const [waiting, next] = ['3-8', null];
  const done = '0 done';
  assert.deepEqual(await look('active'), { tasks: running, waiting, next });
  assert.deepEqual(await look('begun'), { tasks: [done, ...running], waiting, next });
  const first = await look('begun', { limit: 1 });
  assert.deepEqual(first, { tasks: [done], waiting: '', next: 0 });
  const second = await look('begun', { limit: 2, after: 0 });
  assert.deepEqual(second, { tasks: running, waiting, next });
  const last = await look('active', { after: 4 });
  assert.deepEqual(last, { tasks: [], waiting: '5-8', next });
  const both = admin.call('listTasks', { params, query: { only: 'begun', failed: true } });
  await assert.rejects(both, /exclude each other/);
  await admin.call('cancelJob', { params });
  for (const order of orders) agent.ended(order, 0);
  await admin.call('waitForJob', { params });
  assert.deepEqual(await look('active'), { tasks: [], waiting: '', next });
  const { tasks, ...rest } = await look('begun');
  assert.deepEqual([tasks.length, rest], [9, { waiting: '', next }]);
});
