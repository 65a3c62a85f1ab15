// What jobs used, added up by the head.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startAgent, startWorld, TRUE } from './fixture.ts';

test('ended starts are added up by user and outcome, and what still runs is not', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const { jobId } = await world.admin.call('submitJob', { body: TRUE });
  const params = { id: String(jobId) };
  const order = await agent.launch();
  const before = await world.admin.call('reportUsage', { query: {} });
  assert.deepEqual(before.rows, []);
  const done = world.admin.call('waitForJob', { params, query: {} });
  agent.ended(order, 3);
  await done;
  const { rows, from, until } = await world.admin.call('reportUsage', { query: {} });
  const { name } = await world.admin.call('whoami', {});
  assert.deepEqual(
    rows.map(({ key, tasks, starts }) => ({ key, tasks, starts })),
    [{ key: name, tasks: 1, starts: 1 }],
  );
  assert.equal(rows[0]?.from, from);
  assert.ok(until - from === 30 * 86_400_000);
  const outcomes = await world.admin.call('reportUsage', { query: { by: 'outcome' } });
  assert.deepEqual(
    outcomes.rows.map(({ key }) => key),
    ['failed'],
  );
  const body = { role: 'admin', groups: ['lab'] } as const;
  await world.admin.call('createUser', { params: { name }, body: { ...body, groups: ['lab'] } });
  const groups = await world.admin.call('reportUsage', { query: { by: 'group' } });
  assert.deepEqual(
    groups.rows.map(({ key }) => key),
    ['lab'],
  );
  const other = await world.admin.call('reportUsage', { query: { owner: 'nobody' } });
  assert.deepEqual(other.rows, []);
});

test('what ended by a clock that was ahead counts when it has been set back', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const { jobId } = await world.admin.call('submitJob', { body: TRUE });
  const done = world.admin.call('waitForJob', { params: { id: String(jobId) }, query: {} });
  agent.ended(await agent.launch(), 0);
  await done;
  const setBack = Date.now() - 3_600_000;
  t.mock.method(Date, 'now', () => setBack);
  const { rows } = await world.admin.call('reportUsage', { query: {} });
  assert.equal(rows[0]?.tasks, 1);
  const before = { from: 0, until: setBack };
  assert.deepEqual((await world.admin.call('reportUsage', { query: before })).rows, []);
});

test('too many steps, and steps without a begin, are refused', async (t) => {
  const world = await startWorld(t);
  for (const query of [{ stepMs: 60_000 }, { stepMs: 60_000, from: 0, until: 60_000 * 1001 }]) {
    await assert.rejects(world.admin.call('reportUsage', { query }), /at most 1000 steps/);
  }
  const query = { stepMs: 60_000, from: 0, until: 60_000_000 };
  assert.deepEqual((await world.admin.call('reportUsage', { query })).rows, []);
});
