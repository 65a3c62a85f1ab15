// Captured output within bounds on the node.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { FakeWorld } from './fake-world.ts';
import { idOf, launch, shell } from './orders.ts';

const OUT = '/state/spool/1000/s1.0.out';
const LIMIT = 2_000_000;
let world = new FakeWorld();

async function begin(spoolBytesMax: number): Promise<void> {
  world = new FakeWorld({ logBytesMax: LIMIT });
  world.settings = { ...world.settings, spoolBytesMax };
  await world.start();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
}

afterEach(async () => {
  await world.kill();
});

test('output beyond what the head takes gives its room back, but for its end', async () => {
  await begin(1e9);
  world.head.cut();
  world.files.files.set(OUT, Buffer.alloc(4_000_000, 'x'));
  await world.clock.advance(10_000);
  const kept = world.files.files.get(OUT);
  assert.equal(kept?.length, 4_000_000);
  assert.deepEqual([kept[LIMIT - 1], kept[LIMIT]], ['x'.charCodeAt(0), 0]);
  world.launcher.exit(1, { code: 0 });
  await world.clock.advance(10_000);
  assert.equal(world.head.logs.get('1#1/0/stdout')?.toString(), 'x'.repeat(LIMIT));
  assert.equal(world.head.dropped.get('1#1/0/stdout'), 2_000_000 - 262_144);
});

test('[N16] a spool beyond its bound takes no new work until the head has what is in it', async () => {
  await begin(1_000_000);
  world.files.files.set(OUT, Buffer.alloc(1_500_000, 'x'));
  await world.clock.advance(2500);
  assert.equal(world.head.fault, 'spool full');
  world.head.order(launch(2, shell('x')));
  await world.clock.settle();
  assert.equal(world.head.endOf(idOf(2))?.cause, 'never_started');
  world.launcher.exit(1, { code: 0 });
  await world.clock.advance(5000);
  assert.equal(world.head.fault, undefined);
});
