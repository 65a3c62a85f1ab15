// A job tells the same in the same form, in its own view and in the history.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobId } from '../../../../../src/kernel/model/ids.ts';
import { jobRow } from '../../store/support/rows.ts';
import { eventually, startAgent, startWorld, TRUE } from './fixture.ts';

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
  assert.equal(tasks[0]?.gpuCount, 0);
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

test('the history keeps neither variables nor the key of steps nor a long list of items', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const [secret, item] = ['a variable', 'an item'];
  const wish = { ...TRUE, environment: { SECRET: secret }, held: true };
  const { jobId } = await world.admin.call('submitJob', { body: { ...wish, mpi: {} } });
  const each = Array.from({ length: 10_000 }, (_, at) => `${item} ${at}`);
  const list = await world.admin.call('submitJob', { body: { ...wish, each } });
  const { stepKey } = world.head.engine.state.jobs.get(jobId as JobId)?.spec ?? {};
  assert.ok(stepKey !== undefined && stepKey.length > 20);
  for (const state of ['active', 'done']) {
    if (state === 'done') {
      for (const id of [jobId, list.jobId]) {
        await world.admin.call('cancelJob', { params: { id: String(id) } });
      }
    }
    await world.head.engine.settled();
    const rows = [jobId, list.jobId].map((id) => JSON.stringify(world.disk.jobs.get(id)));
    for (const row of rows) {
      assert.match(row, new RegExp(`"state":"${state}"`));
      for (const word of [secret, stepKey, item]) assert.ok(!row.includes(word), word);
    }
    assert.match(rows[0] ?? '', /ranksPerNode/);
  }
});

test('the history is told without reading a single specification', async (t) => {
  const world = await startWorld(t);
  const counts = { completed: 3, failed: 1 };
  const ended = { state: 'done', outcome: 'failed', taskCount: 4, startedAt: 1, endedAt: 2 };
  const row = jobRow(1, { ...ended, outcomeCounts: JSON.stringify(counts), spec: 'cut {' });
  world.disk.jobs.set(1, row);
  const { jobs } = await world.admin.call('history', { query: {} });
  assert.deepEqual(jobs[0]?.outcomeCounts, counts);
});

test('[J2] a key and another list of items are refused, also when the job has left memory', async (t) => {
  for (const retainedJobsMax of [100, 0]) {
    const world = await startWorld(t, { settings: { retainedJobsMax } });
    await startAgent(t, world, 'n1');
    const key = 'sweep';
    const submit = (...each: (string | Record<string, string>)[]) =>
      world.admin.call('submitJob', { body: { ...TRUE, each, held: true }, key });
    const { jobId } = await submit('a', { x: '1', y: '2' });
    await world.admin.call('cancelJob', { params: { id: String(jobId) } });
    await eventually(
      () => world.head.engine.state.jobs.has(jobId as JobId) === retainedJobsMax > 0,
    );
    const again = await submit('a', { y: '2', x: '1' });
    assert.deepEqual([again.jobId, again.again], [jobId, true]);
    await assert.rejects(submit('a', { x: '1', y: '3' }), { code: 'key.taken' });
    await assert.rejects(submit('a'), { code: 'key.taken' });
  }
});

test('the tasks of a sweep tell their point, also long after, and strangers do not see it', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const owner = await world.client('alice');
  const each = [{ lr: '0.1' }, { lr: '0.2' }];
  const program = { kind: 'argv' as const, argv: ['train', '{lr}'] };
  const { jobId } = await owner.call('submitJob', { body: { ...TRUE, program, each, held: true } });
  const params = { id: String(jobId) };
  const seen = async (client: typeof owner) => {
    const { tasks } = await client.call('listTasks', { params });
    const history = await client.call('history', { query: { jobId, tasks: true } });
    return [tasks, history.tasks].map((of) => of.map(({ item }) => item));
  };
  assert.deepEqual(await seen(owner), [each, []]);
  assert.equal((await owner.call('getJob', { params })).hasItems, true);
  await owner.call('cancelJob', { params });
  await world.head.engine.settled();
  const row = world.disk.jobs.get(jobId);
  assert.deepEqual(JSON.parse(row?.spec ?? '').items, each, 'kept beside its digest');
  assert.deepEqual((await seen(owner))[0], each);
  const stranger = await world.client('mallory');
  assert.deepEqual((await seen(stranger))[0], [undefined, undefined]);
});
