// What is said of jobs that are not done comes from the state, not from the last row in the store.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startAgent, startWorld, TRUE } from './fixture.ts';

test('the history of a job that runs says running, and since when', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const { jobId } = await world.admin.call('submitJob', { body: TRUE });
  const params = { id: String(jobId) };
  const started = world.admin.call('waitForJob', { params, query: { until: 'started' } });
  agent.started(await agent.launch());
  const { startedAt } = (await started).job;
  assert.notEqual(startedAt, null);
  const [row] = (await world.admin.call('history', { query: { jobId } })).jobs;
  assert.deepEqual(
    { state: row?.state, startedAt: row?.startedAt },
    { state: 'running', startedAt },
  );
  const active = await world.admin.call('history', { query: { state: 'active' } });
  assert.deepEqual(
    active.jobs.map((job) => job.id),
    [jobId],
  );
});

test('the queue is as long as the tasks that wait, and why tells what runs from what waits', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const array = { indices: '0-9' };
  const { jobId } = await world.admin.call('submitJob', { body: { ...TRUE, array } });
  await agent.launch(4);
  assert.equal((await world.admin.call('info')).queueLength, 6);
  const { words } = await world.admin.call('explainJob', { params: { id: String(jobId) } });
  assert.match(words, /^It is (starting|running) on n1.*\. Its next task waits: needs 1 node/);
});
