// A node whose container runtimes have changed: the head hears of it, and what runs goes on.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { FakeWorld } from './fake-world.ts';
import { idOf, launch, shell } from './orders.ts';

let world = new FakeWorld();

afterEach(async () => {
  await world.kill();
});

test('[N1] labels that have changed go to the head in a new session', async () => {
  world = new FakeWorld();
  const agent = await world.start();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  agent.introduce({ labels: ['docker'], containers: 'docker 20.10' });
  await world.clock.advance(5000);
  const [first, second, ...more] = world.head.hellos;
  assert.deepEqual([first?.facts.containers, more.length], [undefined, 0]);
  assert.deepEqual(second?.labels, ['docker']);
  assert.equal(second?.facts.containers, 'docker 20.10');
  assert.deepEqual(
    second?.held.map(({ epochId }) => epochId),
    [idOf(1)],
  );
  assert.equal(world.head.endOf(idOf(1)), undefined);
});

test('[N1] what changes before the head has answered the hello reaches it all the same', async () => {
  world = new FakeWorld();
  world.head.isBusy = true;
  const starting = world.start();
  await world.clock.settle();
  const agent = world.agent ?? (await starting);
  agent.introduce({ labels: ['docker'], containers: 'docker 20.10' });
  world.head.goOn();
  await world.clock.advance(5000);
  assert.equal(world.head.hellos.length, 2);
  assert.deepEqual(world.head.hellos[1]?.labels, ['docker']);
});
