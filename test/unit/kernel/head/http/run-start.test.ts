// Since when a job runs that has been started more than once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, startAgent, startWorld, TRUE } from './fixture.ts';

test('the time of a job counts from its current epoch, and stays that of the last one', async (t) => {
  const { admin, ...world } = await startWorld(t);
  const agent = await startAgent(t, { admin, ...world }, 'n1');
  const { jobId } = await admin.call('submitJob', { body: { ...TRUE, retriesMax: 1 } });
  const params = { id: String(jobId) };
  const listed = async () => (await admin.call('listJobs', { query: {} })).jobs[0];
  const isRunning = () => eventually(async () => (await listed())?.state === 'running');
  const first = await agent.launch();
  agent.started(first);
  await isRunning();
  const firstRun = (await listed())?.runStartedAt;
  assert.equal(typeof firstRun, 'number');
  agent.ended(first, 1);
  const second = await agent.launch(2);
  const between = await listed();
  assert.deepEqual([between?.state, between?.runStartedAt], ['starting', null]);
  assert.ok(between?.startedAt, 'the first start is kept beside it');
  await eventually(() => Date.now() > (firstRun ?? 0));
  agent.started(second);
  await isRunning();
  const secondRun = (await listed())?.runStartedAt ?? 0;
  assert.ok(secondRun > (firstRun ?? 0));
  agent.ended(second, 0);
  await admin.call('waitForJob', { params });
  const shown = await admin.call('getJob', { params });
  const { jobs } = await admin.call('history', { query: {} });
  const starts = [(await listed())?.runStartedAt, shown.runStartedAt, jobs[0]?.runStartedAt];
  assert.deepEqual(starts, [secondRun, secondRun, secondRun]);
  assert.equal(jobs[0]?.startedAt, between.startedAt);
  assert.deepEqual(jobs[0]?.nodes, ['n1'], 'and where it ran');
});
