// The archive on real files, behind a real head: what nodes store of tasks becomes folders of files
// once the tasks are done, wherever the head is killed.

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { Parts } from '../../../../../src/kernel/head/archive/parts.ts';
import { DiskSync } from '../../../../../src/kernel/head/disk/disk-sync.ts';
import { systemClock } from '../../../../../src/kernel/os/clock.ts';
import { eventually, startAgent, TRUE } from '../http/fixture.ts';
import { ask, send, sha256 } from '../http/node-call.ts';
import {
  bodyOf,
  done,
  type Entry,
  filesIn,
  partsOf,
  partText,
  prepare,
  put,
  restarted,
  store,
} from './support.ts';

test('[F7] what a task left is a folder of files once it is done, with a manifest, and is read back', async (t) => {
  const { world, agent, alice, run } = await prepare(t);
  const { id, order } = await run({ name: 'sim' });
  const entries: Entry[] = [
    { path: 'a.txt', content: 'one' },
    { path: 'sub/b.txt', content: 'two' },
    { path: 'sub/same', content: 'one' },
    { path: 'empty', kind: 'folder' },
    { path: 'sub/to-a', kind: 'link', target: '../a.txt' },
  ];
  const leftOut = [{ path: 'pipe', why: 'it is no file' }];
  const stored = await store(world, agent, { order, owner: alice, entries, leftOut });
  assert.deepEqual(JSON.parse(stored.text), { files: 3, bytes: 9, leftOut: 1 });
  assert.deepEqual(filesIn(world), [], 'nothing is seen of it while the task runs');
  assert.deepEqual(await alice.call('listOutputs', { params: { id }, query: {} }), {
    tasks: [],
    next: null,
  });
  agent.ended(order, 0);
  await done(alice, id);
  const { tasks } = await alice.call('listOutputs', { params: { id }, query: {} });
  const [task] = tasks;
  assert.ok(task !== undefined && Math.abs(task.storedAt - Date.now()) < 60_000);
  assert.deepEqual(
    { ...task, storedAt: 0 },
    {
      index: null,
      epoch: 1,
      outcome: 'completed',
      files: 3,
      bytes: 9,
      leftOut: 1,
      storedAt: 0,
      isPartial: false,
    },
  );
  const manifest = await alice.call('getOutputs', { params: { id, index: '0' } });
  assert.deepEqual(
    manifest.entries.map((one) => one.path),
    entries.map((one) => one.path),
  );
  assert.deepEqual([manifest.name, manifest.owner, manifest.exitCode], ['sim', 'alice', 0]);
  assert.deepEqual([manifest.nodes, manifest.missing], [['n1'], leftOut]);
  const folder = path.join(world.directory, 'archive', 'jobs', id);
  assert.equal(readFileSync(path.join(folder, 'sub/b.txt'), 'utf8'), 'two');
  assert.equal(readlinkSync(path.join(folder, 'sub/to-a')), '../a.txt');
  assert.ok(existsSync(path.join(folder, 'empty')));
  assert.deepEqual(
    JSON.parse(readFileSync(path.join(folder, '_weft/manifest.json'), 'utf8')),
    manifest,
  );
  const read = await alice.stream('readBlob', { params: { hash: sha256('two') } });
  assert.equal(Buffer.concat(await read.toArray()).toString(), 'two');
  assert.deepEqual(partsOf(world), []);
  assert.equal(world.archive.bytes, 9);
  const kept = { tasks: 1, files: 3, bytes: 9, leftOut: 1, more: false };
  assert.deepEqual((await alice.call('getJob', { params: { id } })).outputs, kept);
  const bob = await world.client('bob');
  assert.equal((await bob.call('getJob', { params: { id } })).outputs, null);
});

test('what failed tasks left is kept too, and marked', async (t) => {
  const { world, agent, alice, run } = await prepare(t);
  const { id, order } = await run();
  await store(world, agent, { order, owner: alice, entries: [{ path: 'half', content: 'h' }] });
  agent.ended(order, 3);
  await done(alice, id);
  const { tasks } = await alice.call('listOutputs', { params: { id }, query: {} });
  assert.deepEqual(
    tasks.map(({ outcome, isPartial }) => [outcome, isPartial]),
    [['failed', true]],
  );
});

test('tasks of an array have a folder each, listed page by page', async (t) => {
  const { world, agent, alice } = await prepare(t);
  const { jobId } = await alice.call('submitJob', {
    body: { ...TRUE, array: { indices: '3,7,10' } },
  });
  const id = String(jobId);
  for (const at of [1, 2, 3]) {
    const order = await agent.launch(at);
    agent.started(order);
    const { index } = order.place;
    await store(world, agent, {
      order,
      owner: alice,
      entries: [{ path: 'i', content: `${index}` }],
    });
    agent.ended(order, 0);
  }
  await done(alice, id);
  await world.archive.settled(jobId);
  assert.deepEqual(readdirSync(path.join(world.directory, 'archive', 'jobs', id)).sort(), [
    '10',
    '3',
    '7',
  ]);
  const first = await alice.call('listOutputs', { params: { id }, query: { limit: 2 } });
  assert.deepEqual([first.tasks.map(({ index }) => index), first.next], [[3, 7], 10]);
  const second = await alice.call('listOutputs', { params: { id }, query: { cursor: 10 } });
  assert.deepEqual([second.tasks.map(({ index }) => index), second.next], [[10], null]);
  const one = await alice.call('listOutputs', { params: { id: `${id}[7]` }, query: {} });
  assert.deepEqual(
    one.tasks.map(({ index }) => index),
    [7],
  );
  const manifest = await alice.call('getOutputs', { params: { id, index: '7' } });
  const query = { manifests: true, limit: 2 };
  const whole = await alice.call('listOutputs', { params: { id }, query });
  assert.deepEqual([whole.tasks, whole.manifests?.[1], whole.next], [first.tasks, manifest, 10]);
  assert.deepEqual(
    manifest.entries.map(({ size, sha256: hash }) => [size, hash]),
    [[1, sha256('7')]],
  );
  await assert.rejects(alice.call('getOutputs', { params: { id, index: '8' } }), {
    code: 'outputs.not_found',
  });
});

test('of several nodes the first one is at the top, the others below their names', async (t) => {
  const { world, agent: n1, alice } = await prepare(t);
  const n2 = await startAgent(t, world, 'n2');
  const { jobId } = await alice.call('submitJob', { body: { ...TRUE, nodeCount: 2 } });
  const id = String(jobId);
  const order = await n1.launch();
  const [first, second] = order.nodes[0] === 'n1' ? [n1, n2] : [n2, n1];
  for (const agent of [n1, n2]) agent.started(order);
  await store(world, second, {
    order,
    owner: alice,
    entries: [{ path: 'out', content: 'second' }],
  });
  await store(world, first, { order, owner: alice, entries: [{ path: 'out', content: 'first' }] });
  for (const agent of [n1, n2]) agent.ended(order, 0);
  await done(alice, id);
  const manifest = await alice.call('getOutputs', { params: { id, index: '0' } });
  const below = `_weft/nodes/${second.name}/out`;
  assert.deepEqual(
    manifest.entries.map((one) => one.path),
    ['out', below],
  );
  const folder = path.join(world.directory, 'archive', 'jobs', id);
  assert.equal(readFileSync(path.join(folder, below), 'utf8'), 'second');
});

test('nobody stores for a task that they do not run, lists what is not theirs, or leads outside', async (t) => {
  const { world, agent, alice, run } = await prepare(t);
  const other = await startAgent(t, world, 'n2');
  const [bob, operator] = [await world.client('bob'), world.admin];
  const { id, order } = await run();
  await send(alice, 'one');
  const body = bodyOf([{ path: 'a', content: 'one' }]);
  const idle = order.nodes.includes('n2' as never) ? agent : other;
  const runner = idle === other ? agent : other;
  assert.equal((await put(world, idle, order.epochId, body)).code, 'epoch.not_running');
  for (const epoch of [`${id}#2`, '99#1', '../x']) {
    assert.equal((await put(world, runner, epoch, body)).code, 'epoch.not_running');
  }
  await send(bob, "bob's");
  const foreign = await put(
    world,
    runner,
    order.epochId,
    bodyOf([{ path: 'a', content: "bob's" }]),
  );
  assert.equal(foreign.code, 'files.lacking');
  for (const name of ['../a', '/etc/x', 'a/../b', '']) {
    const answer = await put(
      world,
      runner,
      order.epochId,
      bodyOf([{ path: name, content: 'one' }]),
    );
    assert.equal(answer.code, 'argument.invalid', name);
  }
  const through = bodyOf([
    { path: 'l', kind: 'link', target: 'd' },
    { path: 'l/x', content: 'one' },
  ]);
  assert.equal((await put(world, runner, order.epochId, through)).code, 'argument.invalid');
  const ours = bodyOf([
    { path: '_weft/manifest.json', content: 'one' },
    { path: 'a', content: 'one' },
  ]);
  assert.deepEqual(JSON.parse((await put(world, runner, order.epochId, ours)).text), {
    files: 1,
    bytes: 3,
    leftOut: 1,
  });
  runner.ended(order, 0);
  await done(alice, id);
  assert.equal((await put(world, runner, order.epochId, body)).code, 'epoch.not_running');
  await assert.rejects(bob.call('listOutputs', { params: { id }, query: {} }), {
    code: 'auth.not_owner',
  });
  await assert.rejects(bob.call('removeOutputs', { params: { id } }), { code: 'auth.not_owner' });
  assert.equal((await operator.call('listOutputs', { params: { id }, query: {} })).tasks.length, 1);
});

test('the same stored again is no matter, and the last word counts', async (t) => {
  const { world, agent, alice, run } = await prepare(t);
  const { id, order } = await run();
  for (const content of ['one', 'one', 'other']) {
    const { status } = await store(world, agent, {
      order,
      owner: alice,
      entries: [{ path: 'a', content }],
    });
    assert.equal(status, 200);
  }
  agent.ended(order, 0);
  await done(alice, id);
  const manifest = await alice.call('getOutputs', { params: { id, index: '0' } });
  assert.deepEqual(
    manifest.entries.map((one) => one.sha256),
    [sha256('other')],
  );
});

test("small contents come along, and are the owner's as if they had been sent before", async (t) => {
  const { world, agent, alice, run } = await prepare(t);
  const { id, order } = await run();
  const body = bodyOf([{ path: 'a', content: 'along' }]);
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const bad = { ...body, contents: [base64('other')] };
  const refused = await put(world, agent, order.epochId, bad);
  assert.match(refused.text, /"code":"files.lacking"/);
  const large = { ...body, contents: [base64('x'.repeat(70_000))] };
  assert.equal((await put(world, agent, order.epochId, large)).status, 400);
  const stored = await put(world, agent, order.epochId, { ...body, contents: [base64('along')] });
  assert.deepEqual([stored.status, JSON.parse(stored.text).files], [200, 1]);
  agent.ended(order, 0);
  await done(alice, id);
  const read = await alice.stream('readBlob', { params: { hash: sha256('along') } });
  assert.equal(Buffer.concat(await read.toArray()).toString(), 'along');
});

test('[F7] what a requeued start left goes; that of the start that counts is kept', async (t) => {
  const { world, agent, alice, run } = await prepare(t);
  const { id, order } = await run();
  await store(world, agent, { order, owner: alice, entries: [{ path: 'a', content: 'first' }] });
  await alice.call('requeueJob', { params: { id }, body: {} });
  agent.ended(order, 1);
  const again = await agent.launch(2);
  await eventually(() => !world.names.isNamed(sha256('first')));
  assert.deepEqual(partsOf(world), []);
  agent.started(again);
  await store(world, agent, {
    order: again,
    owner: alice,
    entries: [{ path: 'a', content: 'second' }],
  });
  agent.ended(again, 0);
  await done(alice, id);
  const { tasks } = await alice.call('listOutputs', { params: { id }, query: {} });
  assert.deepEqual(
    tasks.map(({ epoch }) => epoch),
    [2],
  );
});

test('files are removed for all of a job, and come back with no restart', async (t) => {
  const { world, agent, alice, run } = await prepare(t);
  const { id, order } = await run();
  await store(world, agent, { order, owner: alice, entries: [{ path: 'a', content: 'one' }] });
  agent.ended(order, 0);
  await done(alice, id);
  assert.deepEqual(await alice.call('removeOutputs', { params: { id } }), { count: 1 });
  assert.deepEqual(await alice.call('removeOutputs', { params: { id } }), { count: 0 });
  assert.deepEqual(filesIn(world), []);
  assert.equal(world.archive.bytes, 0);
  const archive = await restarted(t, world);
  assert.deepEqual(await archive.list(Number(id), { from: 0, limit: 10 }), []);
});

test('what is archived is not swept, and what was removed is', async (t) => {
  const days = 2;
  const { world, agent, alice, run } = await prepare(t);
  const { id, order } = await run();
  await store(world, agent, { order, owner: alice, entries: [{ path: 'a', content: 'kept' }] });
  await send(alice, 'unnamed');
  agent.ended(order, 0);
  await done(alice, id);
  await world.archive.settled(Number(id));
  world.agePlus(days);
  await world.blobs.sweep({ bytes: 0 });
  const reader = { user: 'alice', by: null };
  assert.equal(world.blobs.mayRead(reader, sha256('unnamed')), false);
  assert.ok(world.blobs.mayRead(reader, sha256('kept')));
  assert.equal(world.blobs.sizeOf(sha256('kept')), 4);
  await alice.call('removeOutputs', { params: { id } });
  world.agePlus(days);
  await world.blobs.sweep({ bytes: 0 });
  assert.equal(world.blobs.sizeOf(sha256('kept')), null);
});

test('small contents that two tasks have left stay for as long as either is archived', async (t) => {
  const { world, agent, alice, run } = await prepare(t);
  const reader = { user: 'alice', by: null };
  const body = bodyOf(['a', 'sub/b'].map((name) => ({ path: name, content: 'same' })));
  const contents = [Buffer.from('same').toString('base64')];
  const ids: string[] = [];
  for (const launches of [1, 2]) {
    const { id, order } = await run({}, launches);
    assert.equal((await put(world, agent, order.epochId, { ...body, contents })).status, 200);
    agent.ended(order, 0);
    await done(alice, id);
    await world.archive.settled(Number(id));
    ids.push(id);
  }
  const sweep = async (): Promise<void> => {
    world.agePlus(2);
    // The last name of what was removed goes a little later.
    await world.blobs.sweep({ bytes: 0 });
  };
  await sweep();
  for (const id of ids) {
    assert.equal(world.blobs.sizeOf(sha256('same')), 4);
    assert.ok(world.blobs.mayRead(reader, sha256('same')));
    await alice.call('removeOutputs', { params: { id } });
    await sweep();
  }
  assert.equal(world.blobs.sizeOf(sha256('same')), null);
  assert.equal(world.blobs.bytes, 0);
});

test('killed after a part was stored: the next head knows it, and finishes it with its task', async (t) => {
  const { world, agent, alice, run } = await prepare(t);
  const { id, order } = await run();
  await store(world, agent, { order, owner: alice, entries: [{ path: 'a', content: 'one' }] });
  const archive = await restarted(t, world);
  assert.ok(world.names.isNamed(sha256('one')));
  await archive.settled(Number(id));
  assert.deepEqual(partsOf(world), [`${order.epochId}.0`], 'the task still runs');
  agent.ended(order, 0);
  await done(alice, id);
  assert.equal((await archive.list(Number(id), { from: 0, limit: 10 })).length, 1);
});

test('[F7] killed after the task was done: the next head makes the folder', async (t) => {
  const { world, agent, alice, run } = await prepare(t);
  const { id, order } = await run();
  await store(world, agent, { order, owner: alice, entries: [{ path: 'a', content: 'one' }] });
  await world.archive.close();
  agent.ended(order, 0);
  await done(alice, id);
  assert.deepEqual(filesIn(world), []);
  // In the middle of it, and a part that was never told of.
  const half = path.join(world.directory, 'archive', 'aside', '1');
  mkdirSync(half);
  writeFileSync(path.join(half, 'a'), 'on');
  writeFileSync(path.join(world.directory, 'archive', 'parts', '7#1.0.new'), '{"ver');
  writeFileSync(path.join(world.directory, 'archive', 'parts', '8#1.0'), '{"ver');
  const archive = await restarted(t, world);
  const [task] = await archive.list(Number(id), { from: 0, limit: 10 });
  assert.deepEqual([task?.files, task?.bytes, task?.epoch], [1, 3, 1]);
  assert.ok(!existsSync(half));
  assert.deepEqual(partsOf(world), []);
  assert.equal(archive.bytes, 3);
});

test('killed after the folder came: the part goes, and nothing is counted twice', async (t) => {
  const { world, agent, alice, run } = await prepare(t);
  const { id, order } = await run();
  await store(world, agent, { order, owner: alice, entries: [{ path: 'a', content: 'one' }] });
  const part = path.join(world.directory, 'archive', 'parts', `${order.epochId}.0`);
  const text = partText(world, order);
  agent.ended(order, 0);
  await done(alice, id);
  await world.archive.settled(Number(id));
  const before = filesIn(world);
  writeFileSync(part, text);
  const archive = await restarted(t, world);
  await archive.settled(Number(id));
  assert.deepEqual([partsOf(world), filesIn(world), archive.bytes], [[], before, 3]);
});

test('killed before a requeued start was forgotten: the next head forgets it', async (t) => {
  const { world, agent, alice, run } = await prepare(t);
  const { id, order } = await run();
  await store(world, agent, { order, owner: alice, entries: [{ path: 'a', content: 'one' }] });
  await world.archive.close();
  await alice.call('requeueJob', { params: { id }, body: {} });
  agent.ended(order, 1);
  await agent.launch(2);
  const archive = await restarted(t, world);
  await archive.settled(Number(id));
  assert.deepEqual(partsOf(world), []);
  assert.equal(world.names.isNamed(sha256('one')), false);
});

test('ids of jobs that have files here are seen, done or not, and what another left stays', async (t) => {
  const { world, agent, alice, run } = await prepare(t);
  assert.equal(await world.archive.jobIdSeen(), 0);
  const { jobId, id, order } = await run();
  await store(world, agent, { order, owner: alice, entries: [{ path: 'a', content: 'one' }] });
  assert.equal(await world.archive.jobIdSeen(), jobId);
  // As of a job that had the same id before records were lost.
  const folder = path.join(world.directory, 'archive', 'jobs', id);
  mkdirSync(path.join(folder, '_weft'), { recursive: true });
  const there = { owner: 'bob', name: 'old', epoch: 1, startedAt: 5 };
  for (const name of ['manifest', 'summary']) {
    writeFileSync(path.join(folder, '_weft', `${name}.json`), JSON.stringify(there));
  }
  agent.ended(order, 0);
  await done(alice, id);
  await eventually(() => world.log.lines.some(({ fields }) => /bob's old/.test(`${fields.error}`)));
  assert.deepEqual(partsOf(world), [`${order.epochId}.0`]);
  mkdirSync(path.join(world.directory, 'archive', 'jobs', '70'));
  assert.equal(await world.archive.jobIdSeen(), 70);
});

test('a folder that cannot be made is made later, and its files stay meanwhile', async (t) => {
  const { world, agent, alice, run } = await prepare(t, {
    archiveClock: { after: (_, then) => systemClock.after(1, then) },
  });
  const { id, order } = await run();
  await store(world, agent, { order, owner: alice, entries: [{ path: 'a', content: 'one' }] });
  const blocking = path.join(world.directory, 'archive', 'jobs', id);
  writeFileSync(blocking, 'in the way');
  agent.ended(order, 0);
  await done(alice, id);
  await eventually(() =>
    world.log.lines.some(({ message }) => message.includes('not archived yet')),
  );
  assert.ok(world.names.isNamed(sha256('one')));
  rmSync(blocking);
  await eventually(() => existsSync(path.join(blocking, '_weft/manifest.json')));
});

test('a folder that is in its place and could not be synced counts once it is', async (t) => {
  const { world, agent, alice, run } = await prepare(t, {
    archiveClock: { after: (_, then) => systemClock.after(1, then) },
  });
  const { id, order } = await run();
  await store(world, agent, { order, owner: alice, entries: [{ path: 'a', content: 'one' }] });
  const folder = path.join(world.directory, 'archive', 'jobs', id);
  const settle = DiskSync.prototype.settle;
  let failures = 0;
  t.mock.method(DiskSync.prototype, 'settle', function (this: DiskSync, paths: readonly string[]) {
    if (failures === 2 || !existsSync(folder)) return settle.call(this, paths);
    failures += 1;
    return Promise.reject(new Error('EIO'));
  });
  assert.equal((await alice.call('getJob', { params: { id } })).outputs, null);
  agent.ended(order, 0);
  await done(alice, id);
  await eventually(() => failures === 2);
  await eventually(async () => {
    const { outputs } = await alice.call('getJob', { params: { id } });
    return outputs?.bytes === 3;
  });
});

test('more than the archive may have is refused, and told why', async (t) => {
  const { world, agent, alice, run } = await prepare(t, { archiveBytesMax: 5 });
  const { order } = await run();
  const answer = await store(world, agent, {
    order,
    owner: alice,
    entries: [{ path: 'a', content: 'sixsix' }],
  });
  assert.equal(answer.code, 'outputs.too_large');
  assert.match(answer.text, /left 6; the head keeps 5 of/);
});

test('[F8] what is too old goes, and the oldest of what is too much; info says it before', async (t) => {
  let now = Date.now();
  const { world, agent, alice } = await prepare(t, {
    archiveBytesMax: 10,
    archiveClock: { now: () => now },
  });
  const leave = async (at: number, content: string): Promise<string> => {
    const { jobId } = await alice.call('submitJob', { body: { ...TRUE, array: { indices: '5' } } });
    const order = await agent.launch(at);
    agent.started(order);
    await store(world, agent, { order, owner: alice, entries: [{ path: 'a', content }] });
    agent.ended(order, 0);
    await done(alice, String(jobId));
    await world.archive.settled(jobId);
    return String(jobId);
  };
  const archived = async (id: string) =>
    (await alice.call('listOutputs', { params: { id }, query: {} })).tasks.length;
  const first = await leave(1, 'four');
  const storedAt = now;
  now += 1000;
  const second = await leave(2, 'more');
  await world.archive.expire();
  const { archive } = await alice.call('info');
  assert.deepEqual(archive, {
    bytes: 8,
    bytesMax: 10,
    next: { jobId: Number(first), bytes: 4, goesAt: storedAt + 86_400_000 },
  });
  now += 1000;
  const third = await leave(3, 'most');
  await eventually(async () => (await archived(first)) === 0);
  assert.deepEqual([await archived(second), await archived(third)], [1, 1]);
  assert.ok(!existsSync(path.join(world.directory, 'archive', 'jobs', first)));
  assert.equal(world.archive.bytes, 8);
  now = storedAt + 86_400_000 + 1500;
  await world.archive.expire();
  assert.deepEqual([await archived(second), await archived(third)], [0, 1]);
});

async function giveWay(t: TestContext, isFresh: boolean): Promise<void> {
  const block = 4096;
  const { world, agent, alice } = await prepare(t, { blobBytesMax: 8 * block });
  const leave = async (at: number, content: string): Promise<number> => {
    const { jobId } = await alice.call('submitJob', { body: TRUE });
    const order = await agent.launch(at);
    agent.started(order);
    await store(world, agent, { order, owner: alice, entries: [{ path: 'a', content }] });
    agent.ended(order, 0);
    await done(alice, String(jobId));
    await world.archive.settled(jobId);
    return jobId;
  };
  const first = await leave(1, 'a'.repeat(3 * block));
  const second = await leave(2, 'b'.repeat(3 * block));
  const archived = async (jobId: number) =>
    (await world.archive.list(jobId, { from: 0, limit: 1 })).length;
  world.agePlus(isFresh ? 0 : 2);
  await assert.rejects(send(alice, 'x'.repeat(9 * block)), { code: 'blob.quota' });
  assert.deepEqual([await archived(first), await archived(second)], [1, 1]);
  if (isFresh) {
    // What was sent just now stays for an hour: more from the archive would go for nothing.
    for (const _ of [1, 2]) {
      await assert.rejects(send(alice, 'c'.repeat(4 * block)), { code: 'blob.quota' });
      assert.deepEqual([await archived(first), await archived(second)], [0, 1]);
    }
    return;
  }
  await send(alice, 'c'.repeat(4 * block));
  assert.deepEqual([await archived(first), await archived(second)], [0, 1]);
}

test('when room is short the oldest archived files give way, and to nothing that never fits', (t) =>
  giveWay(t, false));

test('archived files do not go one after the other while their contents cannot yet', (t) =>
  giveWay(t, true));

test('[F13] one request of another user makes nothing go of what is kept, nor do its bytes', async (t) => {
  const block = 4096;
  const { world, agent, alice, run } = await prepare(t, { blobBytesMax: 8 * block });
  const { jobId, id, order } = await run();
  const content = 'a'.repeat(5 * block);
  await store(world, agent, { order, owner: alice, entries: [{ path: 'a', content }] });
  agent.ended(order, 0);
  await done(alice, id);
  await world.archive.settled(jobId);
  world.agePlus(2);
  const bob = await world.client('bob');
  const big = 'b'.repeat(7 * block);
  const announce = bob.call('sendBlob', {
    params: { hash: sha256(big) },
    query: { offset: 0, size: big.length },
    bytes: { length: 0, open: () => Readable.from([]) },
  });
  await assert.rejects(announce, { code: 'blob.quota' });
  await assert.rejects(send(bob, big), { code: 'blob.quota' });
  assert.equal((await world.archive.list(jobId, { from: 0, limit: 1 })).length, 1);
  await send(bob, 'b'.repeat(3 * block));
});

test('a task whose files wait for room on the head says so, until they come through', async (t) => {
  const { world, agent, alice, run } = await prepare(t, { blobBytesMax: 8192 });
  const { id, order } = await run();
  const notice = async () => (await alice.call('getJob', { params: { id } })).notice;
  const big = 'x'.repeat(10_000);
  const part = (content: string) =>
    ask(world, agent, {
      method: 'PATCH',
      epoch: order.epochId,
      body: content,
      path: `/v1/blobs/${sha256(content)}?offset=0&size=${content.length}`,
    });
  assert.equal((await part(big)).code, 'blob.quota');
  const words =
    /^Its output files wait for room on the head: The head has .* of at most 8K of files/;
  assert.match((await notice()) ?? '', words);
  assert.match((await notice()) ?? '', / Until then they stay on n1\.$/);
  const why = await alice.call('explainJob', { params: { id } });
  assert.match(why.words, /wait for room on the head/);
  assert.equal((await part('small')).status, 200);
  assert.equal(await notice(), null);
});

test('a task whose list of files finds no room on the head says so, until it does', async (t) => {
  const { world, agent, alice, run } = await prepare(t);
  const { id, order } = await run();
  const notice = async () => (await alice.call('getJob', { params: { id } })).notice;
  const entries = [{ path: 'out', content: 'small' }];
  const noRoom = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  const full = t.mock.method(Parts.prototype, 'write', () => Promise.reject(noRoom));
  const refused = await store(world, agent, { order, owner: alice, entries });
  assert.equal(refused.code, 'blob.disk_full');
  assert.match((await notice()) ?? '', /wait for room on the head: The disk of the head is full/);
  full.mock.restore();
  await store(world, agent, { order, owner: alice, entries });
  assert.equal(await notice(), null);
});
