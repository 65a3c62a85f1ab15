// What waiting and not yet submitted jobs can expect, over HTTP.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startAgent, startWorld, TRUE } from './fixture.ts';

test('[J24] a rehearsal says what a submission would come to, and nothing is submitted', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const free = await world.admin.call('rehearseJob', { body: TRUE });
  assert.match(free.words, /^It would start now on n1\.\nPriority 0\.$/);
  assert.deepEqual(free.startNodes, ['n1']);
  const array = { indices: '0-9' };
  await world.admin.call('submitJob', { body: { ...TRUE, array, walltimeMs: 60_000 } });
  await agent.launch(4);
  const full = await world.admin.call('rehearseJob', { body: TRUE });
  assert.match(
    full.words,
    /^It would wait: needs 1 node.*\nBy today's plan it would start at the latest at /,
  );
  assert.ok((full.startsAt ?? 0) >= Date.now() + 60_000, 'after all that wait already');
  const broken = { ...TRUE, dependencies: [{ jobId: 77, condition: 'ok' as const }] };
  await assert.rejects(world.admin.call('rehearseJob', { body: broken }), /77/);
  await assert.rejects(
    world.admin.call('rehearseJob', { body: { ...TRUE, nodeCount: 2 } }),
    /hold/,
  );
  assert.equal((await world.admin.call('listJobs', { query: {} })).jobs.length, 1);
});

test('[J23] jobs are listed in the order in which they would start', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  await world.admin.call('submitJob', { body: { ...TRUE, array: { indices: '0-3' } } });
  await agent.launch(4);
  for (const nice of [3, 1, 2]) {
    const body = { ...TRUE, nice };
    await world.admin.call('submitJob', { body });
  }
  await world.admin.call('submitJob', { body: { ...TRUE, held: true } });
  const query = { sort: 'priority' as const, limit: 2 };
  const { jobs, next, more } = await world.admin.call('listJobs', { query });
  assert.deepEqual(
    jobs.map(({ id, priority }) => [id, Math.round(priority ?? 0)]),
    [
      [3, -1000],
      [4, -2000],
    ],
  );
  assert.deepEqual([next, more], [null, true]);
  const all = await world.admin.call('listJobs', { query: { ...query, limit: 3 } });
  assert.equal(all.more, false);
});

test('[A21] whoever has used something is listed with share and factor', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  assert.deepEqual((await world.admin.call('listUsage')).users, []);
  await world.admin.call('submitJob', { body: TRUE });
  await agent.launch();
  const [row] = (await world.admin.call('listUsage')).users;
  assert.deepEqual([row?.share, row?.usageSeconds], [1, 0]);
});
