// The tasks of an array that failed, without the others; and when a node was heard last.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobId } from '../../../../../src/kernel/model/ids.ts';
import { eventually, startAgent, startWorld, TRUE } from './fixture.ts';

test('tasks that failed are listed without the others, page by page, in memory or out of it', async (t) => {
  for (const retainedJobsMax of [100, 0]) {
    const world = await startWorld(t, { settings: { retainedJobsMax } });
    const agent = await startAgent(t, world, 'n1');
    const body = { ...TRUE, array: { indices: '0-5' } };
    const { jobId } = await world.admin.call('submitJob', { body });
    const params = { id: String(jobId) };
    const failed = async (query: object) => {
      const { tasks, next } = await world.admin.call('listTasks', {
        params,
        query: { failed: true, ...query },
      });
      return [tasks.map(({ index }) => index), next];
    };
    const bad = new Set([1, 4]);
    for (let count = 1; count <= 6; count += 1) {
      const order = await agent.launch(count);
      agent.ended(order, bad.has(order.place.index ?? -1) ? 3 : 0);
      if (count === 2) await world.admin.call('waitForJob', { params: { id: `${jobId}[1]` } });
      if (count === 2) assert.deepEqual(await failed({}), [[1], null], 'others still wait');
    }
    await world.admin.call('waitForJob', { params });
    await eventually(
      () => world.head.engine.state.jobs.has(jobId as JobId) === retainedJobsMax > 0,
    );
    assert.deepEqual(await failed({}), [[1, 4], null]);
    assert.deepEqual(await failed({ limit: 1 }), [[1], 1]);
    assert.deepEqual(await failed({ limit: 1, after: 1 }), [[4], null]);
    assert.deepEqual(await failed({ after: 4 }), [[], null]);
    const why = async (index: number) =>
      (await world.admin.call('explainJob', { params: { id: `${jobId}[${index}]` } })).words;
    assert.match(await why(1), /: failed \(exited with code 3 on n1\)\.$/);
    assert.match(await why(2), /: completed\.$/, 'though its job failed');
  }
});

test('a node was seen last when it was heard last, not when it connected', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const look = () => world.admin.call('getNode', { params: { name: 'n1' } });
  const first = await look();
  assert.ok(first.connectedAt !== undefined && first.lastSeenAt !== null);
  const sentAt = Date.now();
  await eventually(() => Date.now() > sentAt + 20);
  agent.tell({ kind: 'heartbeat', sentAt: 1, at: Date.now(), load: LOAD });
  let later = first;
  for (let looks = 0; looks < 1000 && (later.lastSeenAt ?? 0) < sentAt + 10; looks += 1) {
    later = await look();
  }
  assert.ok((later.lastSeenAt ?? 0) >= sentAt + 10);
  assert.equal(later.connectedAt, first.connectedAt);
  agent.socket.terminate();
  await eventually(() => world.head.engine.state.nodes.get('n1' as never)?.connected === false);
  assert.equal((await look()).connectedAt, undefined);
});

const LOAD = { load1: 0.5, memoryFreeBytes: 1, diskFreeBytes: 1 };

test('a task that its other array kept from starting says so, and no time that is not its own', async (t) => {
  for (const retainedJobsMax of [100, 0]) {
    const world = await startWorld(t, { settings: { retainedJobsMax } });
    await startAgent(t, world, 'n1');
    const body = { ...TRUE, array: { indices: '0-2' } };
    const submit = async (more: object) =>
      (await world.admin.call('submitJob', { body: { ...body, ...more } })).jobId;
    const cancel = (id: string) => world.admin.call('cancelJob', { params: { id }, body: {} });
    const first = await submit({ held: true });
    const dependencies = [{ jobId: first, condition: 'each' as const }];
    const second = await submit({ held: true, dependencies });
    const words = async (index: number) =>
      (await world.admin.call('explainJob', { params: { id: `${second}[${index}]` } })).words;
    await cancel(`${second}[0]`);
    await cancel(`${first}[1]`);
    const broken = `(it waited for task ${first}[1], which has ended as cancelled)`;
    assert.equal(await words(0), 'It is done: cancelled.');
    assert.equal(await words(1), `It is done: cancelled ${broken}.`);
    for (const id of [second, first]) await cancel(String(id));
    const { state } = world.head.engine;
    await eventually(() => state.jobs.has(second as JobId) === retainedJobsMax > 0);
    assert.equal(await words(1), `It is done: cancelled ${broken}.`);
    const params = { id: String(second) };
    const { tasks } = await world.admin.call('listTasks', { params, query: {} });
    assert.deepEqual(
      tasks.map(({ endedAt }) => endedAt),
      [null, null, null],
    );
  }
});

test('a task that was cancelled before its other array failed does not name that', async (t) => {
  for (const retainedJobsMax of [100, 0]) {
    const world = await startWorld(t, { settings: { retainedJobsMax } });
    const agent = await startAgent(t, world, 'n1');
    const body = { ...TRUE, array: { indices: '7' } };
    const first = (await world.admin.call('submitJob', { body })).jobId;
    const order = await agent.launch(1);
    const dependencies = [{ jobId: first, condition: 'each' as const }];
    const second = (await world.admin.call('submitJob', { body: { ...body, dependencies } })).jobId;
    await world.admin.call('cancelJob', { params: { id: String(second) }, body: {} });
    const cancelledAt = Date.now();
    await eventually(() => Date.now() > cancelledAt);
    agent.ended(order, 3);
    await world.admin.call('waitForJob', { params: { id: String(first) } });
    const params = { id: `${second}[7]` };
    const { words } = await world.admin.call('explainJob', { params });
    assert.equal(words, 'It is done: cancelled.');
  }
});
