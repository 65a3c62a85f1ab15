// Tasks that follow each other on a node, through the agent's shell: the next begins at once, and
// the head is told of many in one message.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { EpochId, JobId } from '../../../../src/kernel/model/ids.ts';
import type { LaunchOrder } from '../../../../src/kernel/model/orders.ts';
import { FakeWorld } from './fake-world.ts';
import { launch, shell } from './orders.ts';

let world = new FakeWorld();

afterEach(async () => {
  await world.kill();
});

function task(index: number, isNext: boolean): LaunchOrder {
  const epochId = `1[${index}]#1` as EpochId;
  const place = { jobId: 1 as JobId, index };
  return { ...launch(1, shell('x')), epochId, place, next: isNext };
}

function reportsMessages(): number {
  return world.head.received.filter(({ kind }) => kind === 'reports').length;
}

test('[A35] the next begins when one ends, and both are told in one message soon after', async () => {
  world = new FakeWorld();
  await world.start();
  for (const index of [0, 1, 2]) world.head.order(task(index, index > 0));
  await world.clock.advance(100);
  assert.equal(world.launcher.started.length, 1);
  const before = reportsMessages();
  world.launcher.exit(1, { code: 0 });
  await world.clock.settle();
  assert.equal(world.launcher.started.length, 2, 'the head knows nothing of it yet');
  assert.equal(reportsMessages(), before);
  await world.clock.advance(20);
  assert.equal(reportsMessages(), before + 1);
  assert.equal(world.head.endOf('1[0]#1' as EpochId)?.next, '1[1]#1');
  assert.deepEqual(world.head.kindsOf('1[1]#1' as EpochId), ['task_started']);
});

test('[A35] with nothing next, an end is told at once', async () => {
  world = new FakeWorld();
  await world.start();
  world.head.order(task(0, false));
  await world.clock.settle();
  world.launcher.exit(1, { code: 0 });
  await world.clock.settle();
  assert.equal(world.head.endOf('1[0]#1' as EpochId)?.cause, 'exited');
});

test('[A38] a node without room for records gives back what waits, and passes nothing on', async () => {
  world = new FakeWorld();
  await world.start();
  for (const index of [0, 1]) world.head.order(task(index, index > 0));
  await world.clock.settle();
  world.journal.hasRoom = () => false;
  await world.clock.advance(1500);
  assert.equal(world.head.endOf('1[1]#1' as EpochId)?.cause, 'never_started');
  world.launcher.exit(1, { code: 0 });
  await world.clock.settle();
  assert.equal(world.head.endOf('1[0]#1' as EpochId)?.next, undefined);
  assert.equal(world.launcher.started.length, 1);
});
