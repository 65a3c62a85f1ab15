// How a node beats while there is nothing to say, and when its head has to answer.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { HEAD_FEATURES, type Heartbeat } from '../../../../src/kernel/wire/messages.ts';
import { isShortBeat } from '../../../../src/kernel/wire/short-beat.ts';
import { FakeWorld } from './fake-world.ts';
import { launch, shell } from './orders.ts';

const TIMES = { heartbeatMs: 2000, nodeTimeoutMs: 15_000 };
let world = new FakeWorld();

async function begin(options: ConstructorParameters<typeof FakeWorld>[0] = {}): Promise<void> {
  world = new FakeWorld({ ...TIMES, ...options });
  await world.start();
}

afterEach(async () => {
  await world.kill();
});

/** The heartbeats of so much time, as the head read them. */
async function beatsOf(ms: number): Promise<Heartbeat[]> {
  const before = world.head.received.length;
  await world.clock.advance(ms);
  return world.head.received.slice(before).flatMap((one) => (one.kind === 'heartbeat' ? one : []));
}

const mayWait = (beats: readonly Heartbeat[]): boolean[] =>
  beats.map((one) => one.mayWait === true);

test('[W11] an idle node asks for an answer before half the time-out is over', async () => {
  await begin();
  world.head.leavesOut = true;
  const beats = await beatsOf(60_000);
  assert.equal(beats.length, 30);
  const asked = beats.filter((one) => one.mayWait !== true).map(({ sentAt }) => sentAt);
  const gaps = asked.slice(1).map((at, before) => at - (asked[before] ?? 0));
  assert.ok(gaps.length > 5 && gaps.every((ms) => ms > 4000 && ms <= 7500), gaps.join());
  assert.equal(world.head.hellos.length, 1, 'the node has not dialed again');
});

test('a head that answers nothing at all is dialled again within the time-out', async () => {
  await begin();
  world.head.acknowledges = false;
  await world.clock.advance(15_000 + 2 * 2000);
  assert.equal(world.head.hellos.length, 2);
});

test('[W11] a node that stood still does not hold an answer against its head that it did not ask for', async () => {
  await begin();
  world.head.leavesOut = true;
  await beatsOf(3000);
  world.clock.standStill(14_000);
  const [late, next] = await beatsOf(4000);
  assert.deepEqual([late?.mayWait, next?.mayWait, world.head.hellos.length], [undefined, true, 1]);
  // Nor is a head believed for longer that does not answer when it is asked.
  world.head.acknowledges = false;
  await world.clock.advance(3000);
  world.clock.standStill(14_000);
  await world.clock.advance(5000);
  assert.equal(world.head.hellos.length, 2);
});

test('[W11] what a node holds may have a lease: each of its heartbeats is answered', async () => {
  await begin();
  world.head.order(launch(1, shell('x'), { onNodeLoss: { kind: 'lease', leaseMs: 5000 } }));
  world.head.leavesOut = true;
  assert.deepEqual(new Set(mayWait(await beatsOf(60_000))), new Set([false]));
  assert.equal(world.launcher.signals.length, 0, 'its lease was renewed');
});

test('[W7] a head of an earlier release is told whole heartbeats, and answers each', async () => {
  await begin({ features: HEAD_FEATURES.filter((feature) => feature !== 'short_beats') });
  const beats = await beatsOf(20_000);
  assert.ok(beats.length > 8);
  assert.deepEqual(new Set(mayWait(beats)), new Set([false]));
  assert.ok(!world.head.bytes.some(isShortBeat));
});

test('a heartbeat without news is short', async () => {
  await begin();
  await world.clock.advance(10_000);
  const before = world.head.bytes.length;
  await world.clock.advance(10_000);
  assert.deepEqual(world.head.bytes.slice(before).map(isShortBeat), Array(5).fill(true));
});

test('nodes of one machine beat at the same instants', async () => {
  await begin();
  await world.clock.advance(1111);
  world.head.cut();
  await world.clock.advance(10_000);
  const [first, second, third] = (await beatsOf(6000)).map(({ sentAt }) => sentAt);
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  assert.deepEqual([second - first, third - second, first % 250], [2000, 2000, 0]);
});
