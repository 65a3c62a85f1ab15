// Files that jobs need: looked at when a job is submitted, kept while the head knows it, and read
// by the nodes that run it, which read nothing else.

import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import type { Client } from '../../../../../src/kernel/api/client.ts';
import type { FileEntry } from '../../../../../src/kernel/files/entry.ts';
import { formatFileSet } from '../../../../../src/kernel/files/file-set.ts';
import type { BlobHash } from '../../../../../src/kernel/model/blob.ts';
import type { JobId } from '../../../../../src/kernel/model/ids.ts';
import { eventually, type FakeAgent, startAgent, startWorld, TRUE } from './fixture.ts';
import { ask, send, sha256 } from './node-call.ts';

function entry(path: string, content: string): FileEntry {
  return { path, kind: 'file', size: content.length, mode: 0o644, sha256: sha256(content) };
}

function listOf(files: Readonly<Record<string, string>>): string {
  const common = Object.entries(files).map(([path, content]) => entry(path, content));
  return formatFileSet({ version: 1, common });
}

async function submit(client: Client, inputs: BlobHash): Promise<JobId> {
  const { jobId } = await client.call('submitJob', { body: { ...TRUE, staging: { inputs } } });
  return jobId as JobId;
}

test('[F6] a job is refused while the head lacks its files, and names what it lacks', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const alice = await world.client('alice');
  const list = listOf({ 'a.txt': 'one', 'b/c': 'two', d: 'three', e: 'four', f: 'one' });
  await assert.rejects(submit(alice, sha256(list)), {
    code: 'files.lacking',
    message: /lacks 1 of the files that the job names: the list of them\./,
  });
  const inputs = await send(alice, list);
  await assert.rejects(submit(alice, inputs), {
    code: 'files.lacking',
    message: /lacks 4 of the files that the job names: "a\.txt", "b\/c", "d", …\./,
  });
  for (const content of ['one', 'two', 'three', 'four']) await send(alice, content);
  assert.ok((await submit(alice, inputs)) > 0);
});

test('nobody may name what others sent, nor by a wrong list', async (t) => {
  const world = await startWorld(t);
  await startAgent(t, world, 'n1');
  const [alice, bob] = [await world.client('alice'), await world.client('bob')];
  await send(alice, 'secret');
  const inputs = await send(bob, listOf({ a: 'secret' }));
  await assert.rejects(submit(bob, inputs), { code: 'files.lacking' });
  await submit(alice, await send(alice, listOf({ a: 'secret' })));
  await assert.rejects(submit(bob, inputs), { code: 'files.lacking' }, "with alice's job too");
  const none = await send(bob, '{"version":1,"common":[{"path":"../x"}]}');
  await assert.rejects(submit(bob, none), { code: 'argument.invalid', message: /"\.\.\/x" has a/ });
  await send(bob, 'short');
  const lying = listOf({ a: 'short' }).replace('"size":5', '"size":6');
  await assert.rejects(submit(bob, await send(bob, lying)), {
    code: 'argument.invalid',
    message: /"a" is listed with 6 bytes, its content has 5/,
  });
});

test('[F6] what a job names stays while the head knows it, also after a restart', async (t) => {
  const world = await startWorld(t, { settings: { retainedJobsMax: 0 } });
  const agent = await startAgent(t, world, 'n1');
  const alice = await world.client('alice');
  const [one, list] = [await send(alice, 'one'), listOf({ a: 'one' })];
  const inputs = await send(alice, list);
  assert.equal(world.names.isNamed(one), false);
  await submit(alice, inputs);
  const second = await submit(alice, inputs);
  await eventually(() => world.names.isNamedBy(one, 'alice'));
  assert.ok(world.names.isNamed(inputs));
  const names = await world.restartFiles();
  assert.ok(names.isNamedBy(one, 'alice') && names.isNamed(inputs));
  for (const at of [1, 2]) {
    const order = await agent.launch(at);
    agent.started(order);
    agent.ended(order, 0);
    await alice.call('waitForJob', { params: { id: String(order.place.jobId) }, query: {} });
    if (order.place.jobId !== second) assert.ok(world.names.isNamed(one), 'the other needs it');
  }
  await eventually(() => !world.names.isNamed(one) && !world.names.isNamed(inputs));
});

test('[F3] a node reads what its task needs, and nothing else of the owner or of others', async (t) => {
  const world = await startWorld(t);
  const [n1, n2] = [await startAgent(t, world, 'n1'), await startAgent(t, world, 'n2')];
  const [alice, bob] = [await world.client('alice'), await world.client('bob')];
  const [one, other] = [await send(alice, 'one'), await send(alice, 'other')];
  const foreign = await send(bob, 'foreign');
  const inputs = await send(alice, listOf({ a: 'one' }));
  await submit(alice, inputs);
  await eventually(() => n1.launches.length + n2.launches.length === 1);
  const [runner, idle] = n1.launches.length === 1 ? [n1, n2] : [n2, n1];
  const order = await runner.launch();
  assert.equal(order.staging?.inputs, inputs);
  const epoch = order.epochId;
  const get = (agent: FakeAgent, hash: string, of: string | undefined = epoch) =>
    ask(world, agent, {
      method: 'GET',
      path: `/v1/blobs/${hash}`,
      ...(of === '' ? {} : { epoch: of }),
    });
  assert.equal((await get(runner, one)).text, 'one');
  assert.equal((await get(runner, inputs)).text, listOf({ a: 'one' }));
  const hashes = [one];
  const path = '/v1/blobs/read';
  assert.equal(
    (await ask(world, runner, { method: 'POST', path, epoch, body: { hashes } })).status,
    200,
  );
  const both = { method: 'POST', path, epoch, body: { hashes: [one, other] } };
  assert.equal((await ask(world, runner, both)).code, 'blob.not_found');
  for (const hash of [other, foreign, sha256('nothing')]) {
    assert.equal((await get(runner, hash)).code, 'blob.not_found');
  }
  assert.equal((await get(idle, one)).code, 'epoch.not_running');
  for (const stranger of ['', '7#1', `${order.place.jobId}#2`, 'x'.repeat(500)]) {
    assert.equal((await get(runner, one, stranger)).code, 'epoch.not_running');
  }
  runner.started(order);
  runner.ended(order, 0);
  await alice.call('waitForJob', { params: { id: String(order.place.jobId) }, query: {} });
  assert.equal((await get(runner, one)).code, 'epoch.not_running');
});

test('[F16] only a node on the machine is told where the contents of its task lie', async (t) => {
  const world = await startWorld(t);
  const n1 = await startAgent(t, world, 'n1');
  const alice = await world.client('alice');
  const large = 'x'.repeat(300_000);
  const [one, small, other] = [
    await send(alice, large),
    await send(alice, 'small'),
    await send(alice, `${large}y`),
  ];
  await submit(alice, await send(alice, listOf({ a: large, b: 'small' })));
  const { epochId: epoch } = await n1.launch();
  const hashes = [one, small, other];
  const asked = { method: 'POST', path: '/v1/blobs/files', epoch, body: { hashes } };
  const { files } = JSON.parse((await ask(world, n1, asked)).text) as {
    files: { hash: string; path: string; ino: string }[];
  };
  assert.deepEqual(
    files.map(({ hash }) => hash),
    [one, small],
    'not what the job does not name',
  );
  assert.equal(readFileSync(files[0]?.path ?? '', 'utf8'), large);
  assert.equal(files[0]?.ino, String(statSync(files[0]?.path ?? '').ino));
  const byUser = await alice.call('blobFiles', { body: { hashes } });
  assert.deepEqual(byUser.files, []);
});

test('[F3] what a node sends for a task belongs to its owner', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const [alice, bob] = [await world.client('alice'), await world.client('bob')];
  await alice.call('submitJob', { body: TRUE });
  const { epochId: epoch } = await agent.launch();
  const hash = sha256('result');
  const path = `/v1/blobs/${hash}`;
  const lacking = () =>
    ask(world, agent, {
      method: 'POST',
      path: '/v1/blobs/lacking',
      epoch,
      body: { hashes: [hash] },
    });
  assert.deepEqual(JSON.parse((await lacking()).text), { lacking: [{ hash, offset: 0 }] });
  const sent = await ask(world, agent, {
    method: 'PATCH',
    path: `${path}?offset=0&size=6`,
    epoch,
    body: 'result',
  });
  assert.deepEqual(JSON.parse(sent.text), { offset: 6, held: true });
  assert.deepEqual(JSON.parse((await lacking()).text), { lacking: [] });
  const read = await alice.stream('readBlob', { params: { hash } });
  assert.equal(Buffer.concat(await read.toArray()).toString(), 'result');
  await assert.rejects(bob.stream('readBlob', { params: { hash } }), { code: 'blob.not_found' });
  assert.equal((await ask(world, agent, { method: 'GET', path, epoch })).code, 'blob.not_found');
});

test('a retry is refused when its files are gone, and names them as its own else', async (t) => {
  const world = await startWorld(t);
  const agent = await startAgent(t, world, 'n1');
  const alice = await world.client('alice');
  await send(alice, 'one');
  const inputs = await send(alice, listOf({ a: 'one' }));
  const id = await submit(alice, inputs);
  const order = await agent.launch();
  agent.started(order);
  agent.ended(order, 1);
  await alice.call('waitForJob', { params: { id: String(id) }, query: {} });
  const again = await alice.call('retryJob', { params: { id: String(id) } });
  const second = await agent.launch(2);
  assert.deepEqual([second.place.jobId, second.staging?.inputs], [again.jobId, inputs]);
});

test('files of jobs that are done make room for others, those of jobs that are not do not', async (t) => {
  const block = 4096;
  const world = await startWorld(t, { blobBytesMax: 4 * block });
  const agent = await startAgent(t, world, 'n1');
  const alice = await world.client('alice');
  const one = await send(alice, 'one');
  const id = await submit(alice, await send(alice, listOf({ a: 'one' })));
  await eventually(() => world.names.isNamed(one));
  const order = await agent.launch();
  const big = 'x'.repeat(3 * block);
  world.agePlus(2);
  await assert.rejects(send(alice, big), { code: 'blob.quota' });
  agent.started(order);
  agent.ended(order, 1);
  await alice.call('waitForJob', { params: { id: String(id) }, query: {} });
  await world.blobs.sweep({ bytes: 0 });
  assert.equal(world.blobs.sizeOf(one), 3, 'kept for a retry while there is room');
  world.agePlus(2);
  await send(alice, big);
  assert.equal(world.blobs.sizeOf(one), null);
  await assert.rejects(alice.call('retryJob', { params: { id: String(id) } }), {
    code: 'files.lacking',
  });
});

test('a batch is not run again when its files are gone', async (t) => {
  const block = 4096;
  const world = await startWorld(t, { blobBytesMax: 4 * block });
  const agent = await startAgent(t, world, 'n1');
  const [alice, bob] = [await world.client('alice'), await world.client('bob')];
  await send(alice, 'one');
  const inputs = await send(alice, listOf({ a: 'one' }));
  const each = [{ name: 'a', line: 'false' }];
  const submission = { ...TRUE, each, staging: { inputs } };
  const params = { namespace: 'lab', name: 'heat' };
  const parts = [{ submission, numbers: [0], prints: ['x'] }];
  await alice.call('submitBatch', { body: { ...params, parts } });
  const order = await agent.launch();
  agent.started(order);
  agent.ended(order, 1);
  await alice.call('waitForJob', { params: { id: String(order.place.jobId) }, query: {} });
  world.agePlus(2);
  await send(alice, 'x'.repeat(3 * block));
  await assert.rejects(alice.call('retryBatch', { params }), { code: 'files.lacking' });
  await assert.rejects(bob.call('retryBatch', { params }), { code: 'batch.not_owner' });
});
