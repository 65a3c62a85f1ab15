// Jobs over the API: submitting, listing, waiting, acting, following output.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOG_HEADERS } from '../../../../../src/kernel/api/log-headers.ts';
import { eventually, startAgent, startWorld, TRUE } from './fixture.ts';

test('a job goes from submission to its exit code, and wait tells both', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const alice = await world.client('alice');
  const { jobId, taskCount, again } = await alice.call('submitJob', { body: TRUE });
  assert.deepEqual({ taskCount, again }, { taskCount: 1, again: false });
  const params = { id: String(jobId) };
  const started = alice.call('waitForJob', { params, query: { until: 'started' } });
  const order = await agent.launch();
  agent.started(order);
  assert.equal((await started).job.state, 'running');
  const done = alice.call('waitForJob', { params });
  agent.ended(order, 3);
  const { job, task } = await done;
  assert.deepEqual(
    { state: job.state, outcome: job.outcome?.kind, exit: job.exit },
    { state: 'done', outcome: 'failed', exit: { code: 3 } },
  );
  assert.deepEqual({ epoch: task?.epoch, nodes: task?.nodes }, { epoch: 1, nodes: ['n1'] });
});

test('[D21] what failed, however it did, is listed without what completed or was cancelled', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  for (const [at, code] of [3, 0].entries()) {
    const { jobId } = await world.admin.call('submitJob', { body: TRUE });
    const order = await agent.launch(at + 1);
    agent.started(order);
    agent.ended(order, code);
    await world.admin.call('waitForJob', { params: { id: String(jobId) } });
  }
  const held = await world.admin.call('submitJob', { body: { ...TRUE, held: true } });
  await world.admin.call('cancelJob', { params: { id: String(held.jobId) } });
  const listed = async (outcome: 'failure' | 'failed' | 'completed') => {
    const { jobs } = await world.admin.call('listJobs', { query: { state: 'all', outcome } });
    return jobs.map(({ id }) => id);
  };
  assert.deepEqual([await listed('failure'), await listed('failed')], [[1], [1]]);
  assert.deepEqual(await listed('completed'), [2]);
  const query = { outcome: 'failure' } as const;
  const past = await world.admin.call('history', { query });
  assert.deepEqual(
    past.jobs.map(({ id }) => id),
    [1],
  );
});

test('of a user without jobs operators hear whether the head knows the user, by a token, too', async (t) => {
  const world = await startWorld(t);
  const alice = await world.client('alice');
  await world.client('bob');
  const known = async (owner: string, asker = world.admin) =>
    (await asker.call('listJobs', { query: { state: 'all', owner } })).ownerIsKnown;
  assert.deepEqual([await known('alice'), await known('alcie')], [true, false]);
  // Who else has a token is none of a user's business.
  const heard = ['alice', 'bob', 'bbo'].map((owner) => known(owner, alice));
  assert.deepEqual(await Promise.all(heard), [true, undefined, undefined]);
  const { jobs } = await world.admin.call('listJobs', { query: { state: 'all' } });
  assert.deepEqual(jobs, []);
});

test('a wait that is not met in time is refused, and guesses nothing', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const { jobId } = await world.admin.call('submitJob', { body: { ...TRUE, held: true } });
  const call = { params: { id: String(jobId) }, query: { timeoutMs: 20 } };
  await assert.rejects(world.admin.call('waitForJob', call), { code: 'wait.timeout', exitCode: 8 });
});

test('one request waits for many jobs, for all of them or for any', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const { jobId } = await world.admin.call('submitJob', { body: TRUE });
  const array = { ...TRUE, held: true, array: { indices: '0-1' } };
  const held = await world.admin.call('submitJob', { body: array });
  const jobs = [`${held.jobId}[1]`, String(jobId)];
  const any = world.admin.call('waitForJobs', { body: { jobs, mode: 'any' } });
  const all = world.admin.call('waitForJobs', { body: { jobs } });
  const order = await agent.launch();
  agent.started(order);
  agent.ended(order, 0);
  const first = (await any).jobs.map(({ id, met, job }) => [id, met, job.state]);
  assert.deepEqual(first, [
    [jobs[0], false, 'pending'],
    [jobs[1], true, 'done'],
  ]);
  await world.admin.call('cancelJob', { params: { id: jobs[0] as string } });
  const last = (await all).jobs.map(({ met, task }) => [met, task?.outcome?.kind]);
  assert.deepEqual(last, [
    [true, 'cancelled'],
    [true, 'completed'],
  ]);
  const late = { jobs: [`${held.jobId}[0]`, String(jobId)], timeoutMs: 20 };
  await assert.rejects(world.admin.call('waitForJobs', { body: late }), { code: 'wait.timeout' });
  const unknown = world.admin.call('waitForJobs', { body: { jobs: ['999'] } });
  await assert.rejects(unknown, { code: 'job.not_found' });
});

test('why many jobs wait that are asked for together is found once for all of a kind', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const submission = { ...TRUE, cpuCount: 4 };
  const made = await world.admin.call('submitJobs', {
    body: { jobs: Array.from({ length: 50 }, () => ({ submission })) },
  });
  const jobs = made.results.map((one) => String(one.ok ? one.value.jobId : 0));
  const first = await agent.launch();
  const waiting = world.admin.call('waitForJobs', { body: { jobs, mode: 'any' } });
  agent.started(first);
  await eventually(async () => {
    const { jobs: running } = await world.admin.call('listJobs', { query: { state: 'running' } });
    return running.length === 1;
  });
  const { nodes } = world.head.engine.state;
  let looks = 0;
  const values = nodes.values.bind(nodes);
  Object.assign(nodes, {
    values: () => {
      looks += 1;
      return values();
    },
  });
  agent.ended(first, 0);
  const reply = await waiting;
  assert.equal(reply.jobs.filter(({ job }) => job.reason?.kind === 'resources').length, 48);
  assert.ok(looks < 24, `${looks} looks at all nodes`);
});

test('[S8] the same key of the same owner gives the same job', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const first = await world.admin.call('submitJob', { body: TRUE, key: 'k' });
  const second = await world.admin.call('submitJob', { body: TRUE, key: 'k' });
  assert.deepEqual([second.jobId, second.again], [first.jobId, true]);
  const other = { program: { kind: 'argv' as const, argv: ['false'] } };
  const third = world.admin.call('submitJob', { body: { ...TRUE, ...other }, key: 'k' });
  await assert.rejects(third, {
    code: 'key.taken',
    message: /job \d+, which runs another command/,
  });
  const alice = await world.client('alice');
  assert.notEqual((await alice.call('submitJob', { body: TRUE, key: 'k' })).jobId, first.jobId);
});

test('each submission of a bulk request has its own result', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const jobs = [
    { key: 'a', submission: TRUE },
    { key: 'b', submission: { program: { kind: 'argv', argv: [5] } } },
    { key: 'a', submission: TRUE },
  ];
  const { results } = await world.admin.call('submitJobs', { body: { jobs } });
  assert.deepEqual(
    results.map(({ ok }) => ok),
    [true, false, true],
  );
  const [first, second, third] = results;
  assert.ok(second?.ok === false);
  assert.match(
    second.error.message,
    /^[^:]*\bjobs\[1\]\.submission: program\.argv\[0\]: expected string/,
  );
  assert.equal(second.error.message.split('jobs[1]').length, 2, 'named once');
  assert.ok(first?.ok && third?.ok && first.value.jobId === third.value.jobId && third.value.again);
});

test('a bad field is named with its path and what was expected', async (t) => {
  const world = await startWorld(t);
  const body = { program: { kind: 'argv', argv: ['x'] }, nice: 'low', shape: 1 } as never;
  await assert.rejects(world.admin.call('submitJob', { body }), (error: Error) => {
    assert.match(error.message, /nice: expected number/);
    assert.match(error.message, /unknown field shape/);
    return true;
  });
});

test('listings hold jobs newest first, page by page, also those that left memory', async (t) => {
  const world = await startWorld(t, { settings: { retainedJobsMax: 2 } });
  const agent = await startAgent(t, world, 'n1');
  for (let at = 1; at <= 5; at += 1) {
    const { jobId } = await world.admin.call('submitJob', { body: TRUE });
    const order = await agent.launch(at);
    agent.started(order);
    agent.ended(order, 0);
    await world.admin.call('waitForJob', { params: { id: String(jobId) } });
  }
  await world.admin.call('submitJob', { body: { ...TRUE, held: true } });
  await eventually(() => world.head.engine.state.jobs.size < 6);
  const first = await world.admin.call('listJobs', { query: { limit: 4 } });
  assert.deepEqual(
    first.jobs.map(({ id }) => id),
    [6, 5, 4, 3],
  );
  const second = await world.admin.call('listJobs', {
    query: { limit: 4, before: first.next ?? 0 },
  });
  assert.deepEqual(
    second.jobs.map(({ id }) => id),
    [2, 1],
  );
  assert.equal(second.next, null);
  const active = await world.admin.call('listJobs', { query: { state: 'active' } });
  assert.deepEqual(
    active.jobs.map(({ id, reason }) => [id, reason?.kind]),
    [[6, 'held']],
  );
  const past = await world.admin.call('getJob', { params: { id: '1' } });
  assert.deepEqual([past.state, past.exit, past.environment], ['done', { code: 0 }, null]);
  const { tasks } = await world.admin.call('listTasks', { params: { id: '1' } });
  assert.deepEqual(
    tasks.map(({ id, epoch, state }) => [id, epoch, state]),
    [['1', 1, 'done']],
  );
  await assert.rejects(world.admin.call('cancelJob', { params: { id: '1' } }), {
    code: 'job.already_done',
  });
});

test('tasks of an array are listed by index, whatever has become of them', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const array = { indices: '0-99' };
  const { jobId, taskCount } = await world.admin.call('submitJob', { body: { ...TRUE, array } });
  assert.equal(taskCount, 100);
  const order = await agent.launch(1);
  agent.started(order);
  agent.ended(order, 1);
  const id = `${jobId}[${order.place.index}]`;
  await world.admin.call('waitForJob', { params: { id } });
  const page = await world.admin.call('listTasks', {
    params: { id: `${jobId}` },
    query: { limit: 3 },
  });
  assert.deepEqual(
    page.tasks.map((task) => task.id),
    [0, 1, 2].map((index) => `${jobId}[${index}]`),
  );
  const done = page.tasks.find((task) => task.id === id);
  assert.deepEqual([done?.state, done?.exit], ['done', { code: 1 }]);
  assert.equal(page.next, 2);
  const rest = await world.admin.call('listTasks', {
    params: { id: `${jobId}` },
    query: { after: 98, limit: 3 },
  });
  assert.deepEqual(
    rest.tasks.map((task) => [task.id, task.state]),
    [[`${jobId}[99]`, 'pending']],
  );
  await assert.rejects(world.admin.call('listTasks', { params: { id: `${jobId}[100]` } }), {
    code: 'job.not_found',
  });
  const cancelled = await world.admin.call('cancelJob', { params: { id: `${jobId}[99]` } });
  assert.equal(cancelled.count, 1);
});

test('environment and script are shown to the owner only', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const alice = await world.client('alice');
  const bob = await world.client('bob');
  const body = {
    program: { kind: 'script' as const, text: '#!/bin/sh\necho hush', args: [] },
    environment: { PASSWORD: 'hush' },
    held: true,
  };
  const { jobId } = await alice.call('submitJob', { body });
  const params = { id: String(jobId) };
  assert.deepEqual((await alice.call('getJob', { params })).environment, { PASSWORD: 'hush' });
  for (const stranger of [bob, world.admin]) {
    const shown = JSON.stringify([
      await stranger.call('getJob', { params }),
      await stranger.call('listJobs'),
    ]);
    assert.ok(!shown.includes('hush'), shown);
  }
  await assert.rejects(bob.call('cancelJob', { params }), { code: 'auth.not_owner' });
  await assert.rejects(bob.stream('readLogs', { params }), { code: 'auth.not_owner' });
  assert.equal((await world.admin.call('cancelJob', { params })).count, 1);
});

test('followed output comes as it is written and ends when all of it has arrived', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const { jobId } = await world.admin.call('submitJob', { body: TRUE });
  const params = { id: String(jobId) };
  const stream = await world.admin.stream('readLogs', { params, query: { follow: true } });
  let text = '';
  stream.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  const ended = new Promise((resolve) => stream.once('end', resolve));
  const order = await agent.launch();
  agent.started(order);
  agent.output(order.epochId, 'one\n', { offset: 0, end: false });
  await eventually(() => text === 'one\n');
  agent.ended(order, 0);
  // Late, and partly a repetition: the head has the first four bytes.
  agent.output(order.epochId, 'one\ntwo\n', { offset: 0, end: true });
  await ended;
  assert.equal(text, 'one\ntwo\n');
  assert.equal(stream.trailers[LOG_HEADERS.complete], 'true');
  const range = await world.admin.stream('readLogs', { params, query: { offset: 4, limit: 3 } });
  assert.equal(range.headers[LOG_HEADERS.size], '8');
  assert.equal(await new Response(range as never).text(), 'two');
});

test('[J27] a retry is answered as a submission is, once for each key', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const alice = await world.client('alice');
  const { jobId } = await alice.call('submitJob', { body: TRUE });
  const params = { id: String(jobId) };
  agent.ended(await agent.launch(), 1);
  await alice.call('waitForJob', { params });
  const again = await alice.call('retryJob', { params, body: {}, key: 'k' });
  const repeated = await alice.call('retryJob', { params, body: {}, key: 'k' });
  assert.deepEqual([again.taskCount, repeated], [1, { ...again, again: true }]);
  const retried = { id: String(again.jobId) };
  assert.equal((await alice.call('getJob', { params: retried })).retryOf, jobId);
  await assert.rejects(alice.call('retryJob', { params: retried }), { code: 'job.not_done' });
  const indexed = { id: `${jobId}[1]` };
  await assert.rejects(alice.call('retryJob', { params: indexed }), { code: 'job.not_found' });
});

test('a job of which only the record is left is not retried', async (t) => {
  const world = await startWorld(t, { settings: { retainedJobsMax: 0 } });
  await startAgent(t, world, 'n1');
  const { jobId } = await world.admin.call('submitJob', { body: { ...TRUE, held: true } });
  const params = { id: String(jobId) };
  await world.admin.call('cancelJob', { params });
  await eventually(() => world.head.engine.state.jobs.size === 0);
  await assert.rejects(world.admin.call('retryJob', { params }), { code: 'job.not_retained' });
});

test('[J26] a job that waits is changed over the API, field by field', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const { jobId } = await world.admin.call('submitJob', { body: { ...TRUE, held: true } });
  const params = { id: String(jobId) };
  const body = { walltimeMs: 5000, nice: 4, name: 'other' };
  assert.deepEqual(await world.admin.call('changeJob', { params, body }), { count: 1 });
  const job = await world.admin.call('getJob', { params });
  assert.deepEqual([job.walltimeMs, job.nice, job.name], [5000, 4, 'other']);
  const bad = { nodeNames: ['n1'] } as never;
  await assert.rejects(world.admin.call('changeJob', { params, body: bad }), /unknown field/);
});
