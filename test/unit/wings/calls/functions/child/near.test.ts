// Large values between a supervisor and its child for Node: through memory that both share, and
// through the pipes wherever that cannot be.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NearFile } from '../../../../../../src/wings/calls/core/near.ts';
import { NearMemory } from '../../../../../../src/wings/calls/functions/near-memory.ts';
import {
  capture,
  packArguments,
} from '../../../../../../src/wings/calls/functions/serialization/values.ts';
import { startChild } from '../support/child.ts';

/** An end that never comes is a failure, not a wait. */
const LIMIT = { timeout: 90_000 };

const VALUE = new Uint8Array(1_048_576).map((_, at) => at * 7);

/** Arguments that lie in memory, and go through no pipe. */
function laid(memory: NearMemory, ...args: unknown[]): NearFile {
  const { bytes } = packArguments(args);
  const offer = memory.offer(bytes);
  assert.ok(offer !== null);
  const { file, close } = offer;
  const through = () => assert.fail('bytes for the pipe');
  return { file, close, length: bytes.length, bytes: through, lend: through };
}

/** Arguments that are not where they are said to be. */
const GONE = { ...laid(new NearMemory(), VALUE), file: `${process.pid}.0.1` };

const same = capture((value: unknown) => value);

test('[C20] the process for Node reads and writes large values in memory', LIMIT, async () => {
  const near = new NearMemory();
  await using world = await startChild({ near });
  const payload = laid(near, VALUE);
  assert.deepEqual(await world.sendPacked(same, payload).end, { value: VALUE });
  payload.close();
  assert.deepEqual(await world.send(same, 'small').end, { value: 'small' });
  assert.deepEqual(world.ways, ['memory', 'pipe']);
});

test('[C20] buffers of arguments that lay in memory stay as they are', LIMIT, async () => {
  const near = new NearMemory();
  await using world = await startChild({ near });
  const at = 3;
  const payload = laid(near, Buffer.from(VALUE), { deep: [VALUE] });
  const both = (first: Buffer, { deep }: { deep: Uint8Array[] }) => [
    first[at],
    deep[0]?.[at],
    first,
  ];
  const end = await world.sendPacked(capture(both), payload).end;
  payload.close();
  assert.deepEqual(end, { value: [21, 21, Buffer.from(VALUE)] });
});

test('[C20] a result in memory is not lost with a later call', LIMIT, async () => {
  const die = capture(() => process.kill(process.pid, 'SIGKILL'));
  const make = capture(() => new Uint8Array(1_048_576).fill(5));
  for (let time = 0; time < 3; time += 1) {
    await using world = await startChild({ near: new NearMemory() });
    const large = Array.from({ length: 4 }, () => world.send(make).end);
    const dying = world.send(die).end;
    const expected = { value: new Uint8Array(1_048_576).fill(5) };
    for (const end of large) assert.deepEqual(await end, expected);
    assert.equal(await dying, 'started and lost');
    assert.ok(world.ways.includes('memory'));
  }
});

const noRooms: readonly (readonly [why: string, room: NearMemory['room']])[] = [
  ['there is no room', () => null],
  [
    'the room is not to be had',
    () => ({ file: `${process.pid}.0.1`, filled: () => null, close: () => undefined }),
  ],
];
for (const [why, room] of noRooms) {
  test(`[C20] where ${why} a result goes through the pipe`, LIMIT, async () => {
    await using world = await startChild({ near: { host: new NearMemory().host, room } });
    assert.deepEqual(await world.send(same, VALUE).end, { value: VALUE });
    assert.deepEqual(world.ways, ['pipe']);
  });
}

test('[C20] a room that could not be made is tried again, and told once', LIMIT, async () => {
  const near = new NearMemory();
  let isFull = true;
  const room = () => (isFull ? null : near.room());
  await using world = await startChild({ near: { host: near.host, room } });
  for (let time = 0; time < 2; time += 1)
    assert.deepEqual(await world.send(same, VALUE).end, { value: VALUE });
  assert.equal(world.roomless(), 1);
  isFull = false;
  // The rooms follow the first large result that had none.
  for (let time = 0; time < 2; time += 1)
    assert.deepEqual(await world.send(same, VALUE).end, { value: VALUE });
  assert.deepEqual(world.ways, ['pipe', 'pipe', 'pipe', 'memory']);
  assert.equal(world.roomless(), 1);
});

test(
  '[C20] a process that shares no memory with its supervisor is given bytes',
  LIMIT,
  async () => {
    await using world = await startChild({ near: { host: 'another', room: () => null } });
    const { bytes } = packArguments([VALUE]);
    const payload = { ...GONE, length: bytes.length, bytes: () => bytes };
    assert.deepEqual(await world.sendPacked(same, payload).end, { value: VALUE });
  },
);

test(
  '[C20] who cannot read a value any more gives the call to another process',
  LIMIT,
  async () => {
    await using world = await startChild({ near: new NearMemory() });
    await world.send(same, 1).end;
    const [unread, behind] = [world.sendPacked(same, GONE), world.send(same, 2)];
    assert.equal(await unread.end, 'not started');
    assert.equal(await behind.end, 'not started');
    assert.match(await world.worn, /cannot read what lies in memory/);
  },
);

test('[C20] who could never read one says so', LIMIT, async () => {
  await using world = await startChild({ near: new NearMemory() });
  const end = await world.sendPacked(same, GONE).end;
  assert.ok(typeof end === 'object' && 'error' in end);
  assert.match(String(end.error), /its arguments are not where they should be/);
});

test('[C20] who says that a result lies where none does is not believed', LIMIT, async () => {
  await using world = await startChild({ near: new NearMemory() });
  const lie = capture(async () => {
    const { writeSync } = await import('node:fs');
    const file = Buffer.from('1.2.3');
    const head = Buffer.alloc(17);
    head.writeUInt32LE(8 + file.length);
    head[4] = 9;
    head.writeUInt32LE(1, 5);
    writeSync(4, Buffer.concat([head, file]));
    await new Promise(() => setInterval(() => undefined, 1000));
  });
  assert.equal(await world.send(lie).end, 'started and lost');
  assert.match(await world.died, /a result that is not where it says/);
});
