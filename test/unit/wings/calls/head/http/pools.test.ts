// Pools over the API: started, scaled and stopped by their owners, and open to workers that run.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobId } from '../../../../../../src/kernel/model/ids.ts';
import {
  eventually,
  startAgent,
  startWorld,
  type World,
} from '../../../../kernel/head/http/fixture.ts';

const FIXED = { name: 'sums', min: 1, max: 2 };

test('a pool is found by its number, and by its owner by its name', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const ann = await world.client('ann');
  const { jobId, name, again } = await ann.call('startPool', { body: { name: 'sums', max: 4 } });
  assert.deepEqual([name, again], ['sums', false]);
  const byName = await ann.call('getPool', { params: { id: 'sums' } });
  assert.deepEqual(
    [byName.id, byName.min, byName.max, byName.target, byName.idleMs, byName.workers],
    [jobId, 0, 4, 0, 60_000, {}],
  );
  const bob = await world.client('bob');
  const params = { id: String(jobId) };
  assert.equal((await bob.call('getPool', { params })).owner, 'ann');
  assert.deepEqual(
    (await bob.call('listPools')).pools.map(({ id }) => id),
    [jobId],
  );
  const missing = { code: 'pool.not_found' };
  await assert.rejects(bob.call('getPool', { params: { id: 'sums' } }), missing);
  await assert.rejects(bob.call('scalePool', { params, body: { max: 9 } }), {
    code: 'auth.not_owner',
  });
  await assert.rejects(bob.call('stopPool', { params }), { code: 'auth.not_owner' });
  const scaled = await ann.call('scalePool', { params: { id: 'sums' }, body: { max: 9, min: 1 } });
  assert.deepEqual([scaled.min, scaled.max, scaled.target], [1, 9, 1]);
  assert.deepEqual(await ann.call('stopPool', { params: { id: 'sums' } }), { count: 9 });
  agent.ended(await agent.launch(), 1);
  await eventually(() => world.head.engine.state.indexes.pools.size === 0);
  await assert.rejects(ann.call('getPool', { params: { id: 'sums' } }), missing);
});

test('the same key gives the same pool', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const first = await world.admin.call('startPool', { body: { max: 4 }, key: 'k' });
  const again = await world.admin.call('startPool', { body: { max: 4 }, key: 'k' });
  assert.deepEqual(again, { ...first, again: true });
});

test('the secret of a pool is in no answer', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const { jobId } = await world.admin.call('startPool', { body: FIXED });
  const key = keyOf(world, jobId);
  assert.ok(key.length > 20);
  const params = { id: String(jobId) };
  const answers = [
    await world.admin.call('getPool', { params }),
    await world.admin.call('getJob', { params }),
    await world.admin.call('listTasks', { params, query: {} }),
    await world.admin.call('history', { query: {} }),
  ];
  for (const answer of answers) assert.ok(!JSON.stringify(answer).includes(key));
});

function keyOf(world: World, jobId: number): string {
  return world.head.engine.state.jobs.get(jobId as JobId)?.spec.stepKey ?? '';
}
