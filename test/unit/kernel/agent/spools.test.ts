// Spool files that are used again: never before their output is with the head, never with old text.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { formatEpochId, formatTaskId, type JobId } from '../../../../src/kernel/model/ids.ts';
import { FakeWorld } from './fake-world.ts';
import { idOf, launch, shell } from './orders.ts';

const SPOOL = '/state/spool/1000/s1.0.out';
const ID = idOf(1);
let world = new FakeWorld();

async function begin(): Promise<void> {
  world = new FakeWorld();
  await world.start();
}

afterEach(async () => {
  await world.kill();
});

test('spool files are used again, but nothing of what was in them', async () => {
  await begin();
  for (const jobId of [1, 2]) {
    world.head.order(launch(jobId, shell('x')));
    await world.clock.settle();
    assert.equal(world.launcher.started.at(-1)?.stdout, SPOOL);
    const before = world.files.files.get(SPOOL) ?? Buffer.alloc(0);
    world.files.files.set(SPOOL, Buffer.concat([before, Buffer.from(`job ${jobId}`)]));
    world.launcher.exit(jobId, { code: 0 });
    await world.clock.settle();
  }
  assert.equal(world.head.logs.get('1#1/0/stdout')?.toString(), 'job 1');
  assert.equal(world.head.logs.get('2#1/0/stdout')?.toString(), 'job 2');
});

test('a silent task of an array costs one look at each file, and none at the directory', async () => {
  await begin();
  const run = async (index: number): Promise<{ made: number; looks: number }> => {
    const { made, looks } = world.files;
    const place = { jobId: 1 as JobId, index };
    const epochId = formatEpochId(formatTaskId(place.jobId, index), 1);
    world.head.order({ ...launch(1, shell('x')), place, epochId });
    await world.clock.settle();
    for (const end of ['out', 'err']) {
      world.files.files.set(SPOOL.replace('out', end), Buffer.alloc(0));
    }
    world.launcher.exit(index, { code: 0 });
    await world.clock.settle();
    return { made: world.files.made - made, looks: world.files.looks - looks };
  };
  assert.deepEqual((await run(1)).looks, 2);
  assert.deepEqual(await run(2), { made: 0, looks: 2 });
  await world.clock.advance(1000);
  assert.equal((await run(3)).made, 1);
});

test("a spool file is nobody else's before its output is with the head", async () => {
  await begin();
  world.head.acknowledges = false;
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  world.files.files.set(SPOOL, Buffer.from('one'));
  world.launcher.exit(1, { code: 0 });
  await world.clock.settle();
  await world.kill();
  await world.start();
  world.head.order(launch(2, shell('y')));
  await world.clock.settle();
  assert.equal(world.launcher.started.at(-1)?.stdout, '/state/spool/1000/s2.0.out');
  assert.equal(world.files.files.get(SPOOL)?.toString(), 'one');
});

test('files of a lost process are removed: what was just being started may still open them', async () => {
  await begin();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  world.files.files.set(SPOOL, Buffer.from('one'));
  world.launcher.die();
  await world.clock.advance(6000);
  assert.equal(world.head.endOf(ID)?.cause, 'lost');
  assert.equal(world.files.files.has(SPOOL), false);
});
