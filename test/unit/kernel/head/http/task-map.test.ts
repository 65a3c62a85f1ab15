// The map of an array's tasks: all of it once, then changes, which come to the same.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Client } from '../../../../../src/kernel/api/client.ts';
import type { TaskMapReply } from '../../../../../src/kernel/api/task-map.ts';
import { IntervalSet } from '../../../../../src/kernel/base/interval-set.ts';
import { changesOf, Places, textOf } from '../../../../../src/kernel/head/answers/task-letters.ts';
import { TaskMaps } from '../../../../../src/kernel/head/http/task-maps.ts';
import { applyMap } from '../../../../../src/kernel/page/pure/task-map.ts';
import { eventually, startAgent, startWorld, TRUE } from './fixture.ts';

test('[D14] changes applied to what was there give what is there', () => {
  const letters = fc.array(fc.integer({ min: 97, max: 100 }), { maxLength: 80 });
  fc.assert(
    fc.property(letters, letters, (one, other) => {
      const before = Uint8Array.from(one);
      // Equally long, and mostly the same.
      const after = Uint8Array.from(
        one.map((code, at) => (at % 7 === 0 ? (other[at] ?? code) : code)),
      );
      const changes = changesOf(before, after);
      if (changes === null) return;
      const text = [...textOf(before)];
      for (const [from, states] of changes) text.splice(from, states.length, ...states);
      assert.equal(text.join(''), textOf(after));
    }),
  );
  assert.equal(changesOf(Uint8Array.of(97), Uint8Array.of(97, 98)), null, 'another length');
  const all = (code: number) => new Uint8Array(1000).fill(code);
  assert.equal(changesOf(all(97), all(98))?.length ?? 1, 1);
  assert.deepEqual(changesOf(all(97), all(97)), []);
});

test('[D14] an index has its place among indices with gaps', () => {
  const indices = IntervalSet.of([
    [3, 5],
    [10, 10],
    [20, 22],
  ]);
  const places = new Places(indices);
  assert.deepEqual(
    [...indices].map((index) => places.of(index)),
    [0, 1, 2, 3, 4, 5, 6],
  );
});

test('[D14] what is kept for readers has a fixed size; who has seen what is gone gets all again', () => {
  const maps = new TaskMaps('head');
  const map = (code: number) => new Uint8Array(1_000_000).fill(code);
  const when = (at: number) => ({ at, isDone: false });
  const first = maps.tell(1, map(97), when(0), undefined);
  const second = map(97);
  second[7] = 98;
  const next = maps.tell(1, second, when(1), first.version);
  assert.deepEqual(next.changes, [[7, 'b']]);
  assert.equal(maps.tell(2, second, when(1), first.version).changes, null, 'of another job');
  assert.equal(
    maps.tell(1, second.slice(), when(2), next.version).version,
    next.version,
    'the same',
  );
  for (let code = 0; code < 40; code += 1) maps.tell(3, map(code), when(code), undefined);
  assert.equal(maps.tell(1, second, when(50), next.version).changes, null);
  assert.notEqual(maps.fresh(1, { ...when(51), lives: -1 }), null);
  assert.equal(
    maps.fresh(1, { at: 51, isDone: true, lives: -1 }),
    null,
    'its last tasks have ended',
  );
  assert.equal(maps.fresh(1, { ...when(51), lives: 0 }), null, 'another life of the state');
});

/** A page that keeps up with a job. */
function follower(client: Client, id: string) {
  let known: ReturnType<typeof applyMap> | null = null;
  let answered = '';
  const look = async (): Promise<{ counts: Record<string, number>; reply: TaskMapReply }> => {
    const query = known === null ? {} : { since: known.version };
    const reply = await client.call('mapTasks', { params: { id }, query });
    answered = JSON.stringify(reply);
    known = applyMap(known, reply);
    const counts: Record<string, number> = {};
    for (let at = 0; at < known.size; at += 1) {
      const word = known.wordAt(at);
      counts[word] = (counts[word] ?? 0) + 1;
    }
    return { counts, reply };
  };
  return { look, bytes: () => answered.length, indexAt: (at: number) => known?.indexAt(at) };
}

test('[D14] a hundred thousand tasks are one answer, and then what has changed', async (t) => {
  const world = await startWorld(t, { settings: { crashLimit: 9 } });
  const agent = await startAgent(t, world, 'n1');
  const array = { indices: '5-100004' };
  const body = { ...TRUE, cpuCount: 4, array };
  const { jobId } = await world.admin.call('submitJob', { body });
  const bob = await world.client('bob');
  const { look, bytes, indexAt } = follower(bob, String(jobId));
  const first = await agent.launch();
  await eventually(async () => (await look()).counts['starting'] === 1);
  assert.deepEqual([indexAt(0), indexAt(99_999)], [5, 100_004]);
  agent.started(first);
  await eventually(async () => (await look()).counts['running'] === 1);
  assert.ok(bytes() < 1000, `${bytes()} bytes for a change`);
  agent.ended(first, 3);
  const second = await agent.launch(2);
  agent.started(second);
  await eventually(async () => {
    const { counts } = await look();
    return counts['failed'] === 1 && counts['running'] === 1 && counts['pending'] === 99_998;
  });
  const whole = await bob.call('mapTasks', { params: { id: String(jobId) } });
  assert.ok(JSON.stringify(whole).length < 110_000);
  assert.equal(whole.isDone, false);
  await assert.rejects(bob.call('mapTasks', { params: { id: `${jobId}[7]` } }), {
    code: 'argument.invalid',
  });
});

test('[D14] a job that has left memory has the same map', async (t) => {
  const world = await startWorld(t, { settings: { retainedJobsMax: 1, crashLimit: 9 } });
  const agent = await startAgent(t, world, 'n1');
  const array = { indices: '0-3', runningMax: 1 };
  const { jobId } = await world.admin.call('submitJob', { body: { ...TRUE, array } });
  for (const [at, code] of [0, 7].entries()) {
    const order = await agent.launch(at + 1);
    agent.started(order);
    agent.ended(order, code);
  }
  const id = String(jobId);
  const { look } = follower(world.admin, id);
  await eventually(async () => (await look()).counts['failed'] === 1);
  await world.admin.call('cancelJob', { params: { id } });
  const running = agent.launches[2];
  if (running !== undefined) agent.ended(running, 0);
  await eventually(async () => (await look()).reply.isDone);
  const inMemory = (await look()).counts;
  const left = ['pending', 'running'].filter((word) => word in inMemory);
  assert.deepEqual(left, [], 'a map that is done has no task that goes on');
  for (let more = 0; more < 3; more += 1) {
    const made = await world.admin.call('submitJob', { body: { ...TRUE, held: true } });
    await world.admin.call('cancelJob', { params: { id: String(made.jobId) } });
  }
  await eventually(() => !world.head.engine.state.jobs.has(jobId as never));
  const { counts } = await follower(world.admin, id).look();
  assert.deepEqual(counts, inMemory);
});

test('[D14] a task that was cancelled alone stays so when its failed job has left memory', async (t) => {
  const world = await startWorld(t, { settings: { retainedJobsMax: 1 } });
  const agent = await startAgent(t, world, 'n1');
  const array = { indices: '0-3', runningMax: 1 };
  const { jobId } = await world.admin.call('submitJob', { body: { ...TRUE, array } });
  const id = String(jobId);
  const first = await agent.launch();
  agent.started(first);
  agent.ended(first, 7);
  const second = await agent.launch(2);
  agent.started(second);
  for (const index of [2, 3])
    await world.admin.call('cancelJob', { params: { id: `${id}[${index}]` } });
  agent.ended(second, 0);
  await eventually(async () => {
    const { outcome } = await world.admin.call('getJob', { params: { id } });
    return outcome?.kind === 'failed';
  });
  for (let more = 0; more < 3; more += 1) {
    const made = await world.admin.call('submitJob', { body: { ...TRUE, held: true } });
    await world.admin.call('cancelJob', { params: { id: String(made.jobId) } });
  }
  await eventually(() => !world.head.engine.state.jobs.has(jobId as never));
  const { tasks } = await world.admin.call('listTasks', { params: { id } });
  const kinds = tasks.map(({ outcome }) => outcome?.kind);
  assert.deepEqual(kinds, ['failed', 'completed', 'cancelled', 'cancelled']);
  const { counts } = await follower(world.admin, id).look();
  assert.deepEqual(counts, { completed: 1, failed: 1, cancelled: 2 });
  const failed = await world.admin.call('listTasks', { params: { id }, query: { failed: true } });
  assert.deepEqual(
    failed.tasks.map(({ index }) => index),
    [0],
  );
});
