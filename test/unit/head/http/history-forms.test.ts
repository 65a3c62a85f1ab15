// A job tells the same in the same form, in its own view and in the history.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startAgent, startWorld, TRUE } from './fixture.ts';

test('history and job have one form of id, outcome and time limit; an ended job keeps its nodes', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const { jobId } = await world.admin.call('submitJob', { body: TRUE });
  const params = { id: String(jobId) };
  const done = world.admin.call('waitForJob', { params, query: {} });
  agent.ended(await agent.launch(), 3);
  await done;
  const job = await world.admin.call('getJob', { params });
  const { jobs, tasks } = await world.admin.call('history', { query: { tasks: true } });
  const [record] = jobs;
  assert.deepEqual(
    [record?.id, record?.walltimeMs, record?.outcome],
    [job.id, job.walltimeMs, { ...job.outcome, process: null }],
  );
  assert.deepEqual([record?.outcome?.kind, record?.outcome?.exit], ['failed', { code: 3 }]);
  assert.deepEqual([tasks[0]?.id, tasks[0]?.outcome.exit], [String(jobId), { code: 3 }]);
  assert.deepEqual(job.nodes, ['n1']);
});

test('an array says how many of its tasks ended in which way', async (t) => {
  const world = await startWorld(t);
  const body = { ...TRUE, array: { indices: '0-3' }, held: true };
  await startAgent(t, world, 'n1');
  const { jobId } = await world.admin.call('submitJob', { body });
  const params = { id: String(jobId) };
  await world.admin.call('cancelJob', { params });
  const job = await world.admin.call('getJob', { params });
  assert.deepEqual(job.outcomeCounts, { cancelled: 4 });
  const { jobs } = await world.admin.call('history', { query: { jobId } });
  assert.deepEqual(jobs[0]?.outcomeCounts, { cancelled: 4 });
});
