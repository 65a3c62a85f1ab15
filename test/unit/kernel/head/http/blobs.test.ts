// File contents over real sockets: sent in pieces, gone on with after a cut, read in ranges, and
// nobody else's.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { frameHeader, readFrames } from '../../../../../src/kernel/api/blob-frames.ts';
import type { Client } from '../../../../../src/kernel/api/client.ts';
import { readRange } from '../../../../../src/kernel/head/http/byte-range.ts';
import { eventually, startWorld } from './fixture.ts';

const MIB = 1_048_576;

function sha256(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex');
}

async function send(client: Client, content: Buffer, from = 0, end = content.length) {
  return client.call('sendBlob', {
    params: { hash: sha256(content) },
    query: { offset: from, size: content.length },
    bytes: { length: end - from, open: () => Readable.from([content.subarray(from, end)]) },
  });
}

async function read(client: Client, hash: string, range?: string) {
  const headers: Record<string, string> = range === undefined ? {} : { range };
  const answer = await client.stream('readBlob', { params: { hash }, headers });
  return { answer, bytes: Buffer.concat(await answer.toArray()) };
}

test('a content goes to the head in pieces, and comes back whole or in ranges', async (t) => {
  const world = await startWorld(t);
  const alice = await world.client('alice');
  const content = randomBytes(3 * MIB + 17);
  const hash = sha256(content);
  assert.deepEqual(await send(alice, content, 0, MIB), { offset: MIB, held: false });
  const lacking = await alice.call('lackingBlobs', { body: { hashes: [hash] } });
  assert.deepEqual(lacking, { lacking: [{ hash, offset: MIB }] });
  const head = await alice.stream('checkBlob', { params: { hash } });
  head.resume();
  assert.deepEqual(
    [head.headers['weft-blob-offset'], head.headers['weft-blob-held']],
    [String(MIB), 'false'],
  );
  assert.deepEqual(await send(alice, content, MIB), { offset: content.length, held: true });
  const figures = await world.admin.stream('metrics');
  assert.match(Buffer.concat(await figures.toArray()).toString(), /^weft_blob_bytes 3149824$/m);
  const whole = await read(alice, hash);
  assert.equal(whole.answer.statusCode, 200);
  assert.ok(whole.bytes.equals(content));
  const part = await read(alice, hash, `bytes=${MIB}-`);
  assert.equal(part.answer.statusCode, 206);
  assert.equal(
    part.answer.headers['content-range'],
    `bytes ${MIB}-${content.length - 1}/${content.length}`,
  );
  assert.ok(part.bytes.equals(content.subarray(MIB)));
  await assert.rejects(read(alice, hash, `bytes=${content.length}-`), { code: 'argument.invalid' });
});

test('a line that breaks in the middle leaves what came, and the next one goes on from there', async (t) => {
  const world = await startWorld(t);
  const content = randomBytes(2 * MIB);
  const hash = sha256(content);
  const alice = await world.client('alice');
  const outgoing = request({
    socketPath: world.socketPath,
    method: 'PATCH',
    path: `/v1/blobs/${hash}?offset=0&size=${content.length}`,
    headers: {
      authorization: `Bearer ${await world.token('alice')}`,
      'content-length': content.length,
    },
  });
  outgoing.on('error', () => undefined);
  outgoing.write(content.subarray(0, MIB));
  await eventually(() => world.blobs.progress('alice', hash as never).offset === MIB);
  outgoing.destroy();
  await new Promise((resolve) => outgoing.once('close', resolve));
  const { lacking } = await alice.call('lackingBlobs', { body: { hashes: [hash] } });
  assert.equal(lacking[0]?.offset, MIB);
  assert.equal((await send(alice, content, MIB)).held, true);
  assert.ok((await read(alice, hash)).bytes.equals(content));
});

test('a refused upload is answered while its bytes are still on the way, and is not read to the end', async (t) => {
  const world = await startWorld(t, { blobBytesMax: MIB });
  const alice = await world.client('alice');
  let read = 0;
  const endless = function* () {
    for (; read < 4096; read += 1) yield Buffer.alloc(64 * 1024);
  };
  const sending = alice.call('sendBlob', {
    params: { hash: sha256('x') },
    query: { offset: 0, size: 256 * MIB },
    bytes: { length: 256 * MIB, open: () => Readable.from(endless()) },
  });
  await assert.rejects(sending, { code: 'blob.quota', kind: 'resource_exhausted' });
  assert.ok(read < 2048, `${read} of 4096 pieces were read`);
  assert.equal((await alice.call('whoami')).name, 'alice', 'the client goes on');
});

test('what is wrong with an upload is said: its hash, its offset, its size, its bytes', async (t) => {
  const world = await startWorld(t);
  const alice = await world.client('alice');
  const content = Buffer.from('hello');
  const wrong = (hash: string, query: { offset: number; size: number }) =>
    alice.call('sendBlob', {
      params: { hash },
      query,
      bytes: { length: 5, open: () => Readable.from([content]) },
    });
  const size = 5;
  await assert.rejects(wrong('nonsense', { offset: 0, size }), { code: 'argument.invalid' });
  await assert.rejects(wrong(sha256('x'), { offset: -1, size }), { code: 'argument.invalid' });
  await assert.rejects(wrong(sha256('x'), { offset: 0, size }), { code: 'blob.hash_mismatch' });
  await assert.rejects(wrong(sha256('x'), { offset: 0, size: 4 }), { code: 'request.malformed' });
  await assert.rejects(wrong(sha256('x'), { offset: 3, size }), {
    code: 'blob.offset',
    details: { hash: sha256('x'), offset: '0' },
  });
  await assert.rejects(wrong(sha256('x'), { offset: 6, size }), { code: 'argument.invalid' });
  await assert.rejects(alice.call('lackingBlobs', { body: { hashes: ['x'] } }), {
    code: 'argument.invalid',
  });
});

test('[F15] an admin gives a user room for files, and sees what they have', async (t) => {
  const world = await startWorld(t);
  const bob = await world.client('bob');
  await send(bob, randomBytes(8192));
  const params = { name: 'bob' };
  const files = async () => {
    const { users } = await world.admin.call('listUsers');
    const { filesBytes, filesBytesMax } = users.find(({ name }) => name === 'bob') ?? {};
    return [filesBytes, filesBytesMax];
  };
  assert.deepEqual(await files(), [8192, null], 'also of who has no role of their own');
  await world.admin.call('createUser', { params, body: { filesBytesMax: 10_000 } });
  assert.deepEqual(await files(), [8192, 10_000]);
  await assert.rejects(send(bob, randomBytes(8192)), {
    code: 'blob.user_quota',
    details: { user: 'bob', size: '8K', limit: '9.8K', used: '8K' },
  });
  await world.admin.call('modifyUser', { params, body: { groups: ['lab'] } });
  assert.deepEqual(await files(), [8192, 10_000], 'another change leaves it');
  await world.admin.call('modifyUser', { params, body: { filesBytesMax: null } });
  await send(bob, randomBytes(8192));
  assert.deepEqual(await files(), [16_384, null]);
});

test('[F3] a blob of somebody else is not there, whether it is or not', async (t) => {
  const world = await startWorld(t);
  const [alice, bob] = [await world.client('alice'), await world.client('bob')];
  const content = Buffer.from('secret');
  const hash = sha256(content);
  await send(alice, content);
  await assert.rejects(read(bob, hash), { code: 'blob.not_found' });
  await assert.rejects(read(bob, sha256('no such')), { code: 'blob.not_found' });
  const { lacking } = await bob.call('lackingBlobs', { body: { hashes: [hash] } });
  assert.deepEqual(lacking, [{ hash, offset: 0 }]);
  world.names.set('job 1', 'bob', [hash as never]);
  assert.equal((await read(bob, hash)).bytes.toString(), 'secret');
});

test('two clients that send the same content at once both end with it', async (t) => {
  const world = await startWorld(t);
  const content = randomBytes(MIB);
  const users = ['alice', 'bob', 'carol'];
  const clients = await Promise.all(users.map((user) => world.client(user)));
  const sent = await Promise.all(clients.map((client) => send(client, content)));
  assert.ok(sent.every(({ held }) => held));
  for (const client of clients)
    assert.ok((await read(client, sha256(content))).bytes.equals(content));
});

test('a reader that goes away ends nothing but its own reading', async (t) => {
  const world = await startWorld(t);
  const alice = await world.client('alice');
  const content = randomBytes(4 * MIB);
  await send(alice, content);
  const answer = await alice.stream('readBlob', { params: { hash: sha256(content) } });
  await once(answer, 'readable');
  answer.destroy();
  assert.ok((await read(alice, sha256(content))).bytes.equals(content));
  assert.deepEqual(
    world.log.lines.filter(({ level }) => level === 'error'),
    [],
  );
});

test('memory is bounded while a large file comes in', async (t) => {
  const world = await startWorld(t, { blobBytesMax: 1024 * MIB });
  const alice = await world.client('alice');
  const block = Buffer.alloc(MIB);
  const count = 256;
  const hasher = createHash('sha256');
  for (let at = 0; at < count; at += 1) hasher.update(block);
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  const source = function* () {
    for (let at = 0; at < count; at += 1) {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
      yield block;
    }
  };
  const { held } = await alice.call('sendBlob', {
    params: { hash: hasher.digest('hex') },
    query: { offset: 0, size: count * MIB },
    bytes: { length: count * MIB, open: () => Readable.from(source()) },
  });
  assert.ok(held);
  assert.ok(most < 64 * MIB, `${most} bytes of buffers on both ends together`);
});

test('ranges are read as RFC 9110 says, and what else there is counts as none', () => {
  const part = (from: number, end: number) => ({ kind: 'part', from, end });
  const table: [string | undefined, number, ReturnType<typeof readRange>['kind'] | object][] = [
    [undefined, 10, 'whole'],
    ['bytes=0-', 10, part(0, 10)],
    ['bytes=3-5', 10, part(3, 6)],
    ['bytes=3-99', 10, part(3, 10)],
    ['bytes=-4', 10, part(6, 10)],
    ['bytes=-40', 10, part(0, 10)],
    ['bytes=10-', 10, 'outside'],
    ['bytes=-0', 10, 'outside'],
    ['bytes=0-', 0, 'outside'],
    ['bytes=5-3', 10, 'whole'],
    ['bytes=0-1,3-4', 10, 'whole'],
    ['bytes=-', 10, 'whole'],
    ['lines=1-2', 10, 'whole'],
  ];
  for (const [header, size, expected] of table) {
    const range = readRange(header, size);
    assert.deepEqual(typeof expected === 'string' ? range.kind : range, expected, header ?? 'none');
  }
});

test('many small contents in one body: what is right before a wrong one is kept, and what follows is not', async (t) => {
  const world = await startWorld(t);
  const [alice, bob] = [await world.client('alice'), await world.client('bob')];
  const frame = (content: string, hash = sha256(content)) =>
    Buffer.concat([frameHeader(hash, content.length), Buffer.from(content)]);
  const sendAll = (...frames: Buffer[]) => {
    const whole = Buffer.concat(frames);
    const bytes = { length: whole.length, open: () => Readable.from([whole]) };
    return alice.call('sendBlobs', { bytes });
  };
  assert.deepEqual(await sendAll(frame('a'), frame(''), frame('b'), frame('a')), { count: 4 });
  const readMany = async (client: Client, ...contents: string[]) => {
    const answer = await client.stream('readBlobs', { body: { hashes: contents.map(sha256) } });
    const read: string[] = [];
    for await (const { bytes } of readFrames(answer)) read.push(Buffer.from(bytes).toString());
    return read;
  };
  assert.deepEqual(await readMany(alice, 'b', 'a', '', 'b'), ['b', 'a', '', 'b']);
  const fewer = ['x', 'y', 'z'].map((letter) => letter.repeat(30_000));
  await sendAll(...fewer.map((content) => frame(content)));
  assert.deepEqual(await readMany(alice, 'a', ...fewer), ['a', ...fewer], 'in several pieces');
  await assert.rejects(readMany(bob, 'b'), { code: 'blob.not_found' });
  await assert.rejects(readMany(alice, 'a', 'c'), { code: 'blob.not_found' });
  await assert.rejects(sendAll(frame('c'), frame('d', sha256('x'))), {
    code: 'blob.hash_mismatch',
  });
  await assert.rejects(sendAll(frame('e'), frame('f').subarray(0, -1)), {
    code: 'argument.invalid',
  });
  await assert.rejects(sendAll(frameHeader(sha256('x'), 2 ** 30) as Buffer), {
    code: 'argument.invalid',
  });
  const { lacking } = await alice.call('lackingBlobs', {
    body: { hashes: ['c', 'd', 'e', 'f'].map(sha256) },
  });
  assert.deepEqual(
    lacking.map(({ hash }) => hash),
    [sha256('d'), sha256('f')],
  );
  await send(alice, Buffer.alloc(300_000));
  const large = { hashes: [sha256(Buffer.alloc(300_000))] };
  await assert.rejects(alice.stream('readBlobs', { body: large }), { code: 'argument.invalid' });
});
