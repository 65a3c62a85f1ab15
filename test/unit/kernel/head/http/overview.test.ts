// The overview and the history of the load, of more jobs than any list shows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, startAgent, startWorld, TRUE } from './fixture.ts';

const MANY = 1000;

test('[D11] the overview finds what runs, failed and waits among all jobs', async (t) => {
  const world = await startWorld(t, { settings: { crashLimit: 9 } });
  const agent = await startAgent(t, world, 'n1');
  const { jobId: failed } = await world.admin.call('submitJob', { body: TRUE });
  const first = await agent.launch();
  agent.started(first);
  agent.ended(first, 3);
  const { jobId: running } = await world.admin.call('submitJob', {
    body: { ...TRUE, cpuCount: 3 },
  });
  agent.started(await agent.launch(2));
  const submission = { ...TRUE, cpuCount: 4 };
  const jobs = Array.from({ length: MANY }, () => ({ submission }));
  await world.admin.call('submitJobs', { body: { jobs } });
  await eventually(async () => {
    const { jobs: counts } = await world.admin.call('info');
    return counts['running'] === 1 && counts['done'] === 1;
  });
  const bob = await world.client('bob');
  const seen = await bob.call('overview');
  const { jobs: counts, queueLength, ended, total, free } = seen;
  assert.deepEqual(
    { counts, queueLength, ended, total: total.cpuCount, free: free.cpuCount },
    {
      counts: { done: 1, running: 1, pending: MANY },
      queueLength: MANY,
      ended: { failed: 1 },
      total: 4,
      free: 1,
    },
  );
  const ids = (list: readonly { readonly id: number }[]) => list.map(({ id }) => id);
  assert.deepEqual([ids(seen.running), ids(seen.failed)], [[running], [failed]]);
  assert.deepEqual(
    ids(seen.waiting),
    ids(seen.waiting).toSorted((a, b) => a - b),
  );
  assert.equal(seen.waiting[0]?.id, running + 1, 'the one that is next');
  assert.equal(seen.failed[0]?.nodes[0], 'n1');
  assert.deepEqual(seen.stuck, []);
});

test('[D11] the load is what the head saw, by its own clock', async (t) => {
  const world = await startWorld(t);
  const { points, now } = await world.admin.call('loadHistory');
  assert.equal(points.length, 1);
  const [point] = points;
  assert.ok(point !== undefined && point.at <= now && now - point.at < 600_000);
  assert.deepEqual([point.cpus, point.waiting], [0, 0]);
});
