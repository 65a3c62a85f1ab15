// A launcher that stands still: the node says so, takes no new work, and is well again after.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { FakeWorld } from './fake-world.ts';
import { idOf, launch, shell } from './orders.ts';

const FAULT = 'its launcher does not answer';

let world: FakeWorld;
afterEach(() => world.kill());

test('[N16] a node whose launcher stands still says so until it goes on', async () => {
  world = new FakeWorld();
  await world.start();
  const { launcher, head, clock } = world;
  let goOn: () => void = () => undefined;
  launcher.answersStarts = false;
  launcher.goesOn = new Promise((resolve) => (goOn = resolve));
  await clock.advance(60_000);
  assert.equal(head.fault, undefined, 'nothing was asked of it');
  head.order(launch(1, shell('x')));
  await clock.advance(8_000);
  assert.equal(head.fault, undefined, 'it has some time');
  await clock.advance(30_000);
  assert.equal(head.fault, FAULT);
  goOn();
  launcher.tell({ kind: 'started', launchId: 1 });
  await clock.advance(10_000);
  assert.equal(head.fault, undefined);
  assert.deepEqual(head.kindsOf(idOf(1)), ['task_started']);
});

test('[N16] so does one that was only told to end what it runs', async () => {
  world = new FakeWorld();
  await world.start();
  const { launcher, head, clock } = world;
  head.order(launch(1, shell('x')));
  await clock.advance(60_000);
  let goOn: () => void = () => undefined;
  launcher.goesOn = new Promise((resolve) => (goOn = resolve));
  launcher.tellsEnds = false;
  head.order({ kind: 'end', epochId: idOf(1), graceMs: 5000, why: 'cancelled' });
  await clock.advance(8_000);
  assert.equal(head.fault, undefined, 'it has some time');
  await clock.advance(30_000);
  assert.equal(head.fault, FAULT);
  // A program that ends late, or never, is none of its faults.
  goOn();
  await clock.advance(120_000);
  assert.equal(head.fault, undefined);
});

test('a start that takes its time is no fault of a launcher that answers', async () => {
  world = new FakeWorld();
  await world.start();
  const { launcher, head, clock } = world;
  launcher.answersStarts = false;
  head.order(launch(1, shell('x')));
  await clock.advance(120_000);
  assert.equal(head.fault, undefined);
});

test('an agent says in its log that its launcher does not answer its first question', async () => {
  world = new FakeWorld();
  const connect = world.launcher.connect.bind(world.launcher);
  world.launcher.connect = async () => {
    const processes = await connect();
    processes.adopt = () => new Promise(() => undefined);
    return processes;
  };
  const begun = world.start();
  await world.clock.advance(11_000);
  const said = world.complaints.filter((line) => line.includes('launcher'));
  assert.deepEqual(said, ['the launcher does not answer; the node is away until it does']);
  void begun;
});

test('why there is no launcher is said once a minute, and at once when it is another reason', async () => {
  world = new FakeWorld();
  const connect = world.launcher.connect.bind(world.launcher);
  let why = 'it speaks version 2';
  world.launcher.connect = () => Promise.reject(new Error(why));
  const begun = world.start();
  await world.clock.advance(59_000);
  assert.equal(world.complaints.length, 1);
  why = 'it is not there';
  await world.clock.advance(62_000);
  assert.equal(world.complaints.length, 3);
  world.launcher.connect = connect;
  await world.clock.advance(1000);
  await begun;
});
