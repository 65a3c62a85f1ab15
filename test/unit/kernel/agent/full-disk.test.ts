// The agent on a disk without room: ends go on, starts and reports wait.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { NODE_DISK_FREE_BYTES_MIN } from '../../../../src/kernel/model/limits.ts';
import { FakeWorld } from './fake-world.ts';
import { idOf, launch, shell } from './orders.ts';

const ID = idOf(1);
let world = new FakeWorld();

afterEach(async () => {
  await world.kill();
});

/** A connected agent that runs job 1. */
async function running(walltimeMs: number | null = null): Promise<void> {
  world = new FakeWorld();
  await world.start();
  world.head.order(launch(1, shell('x'), { walltimeMs }));
  await world.clock.settle();
  assert.deepEqual(world.head.kindsOf(ID), ['task_started']);
}

test('[S11] a full disk holds back no walltime', async () => {
  await running(60_000);
  world.journal.isFull = true;
  await world.clock.advance(60_100);
  assert.deepEqual(
    world.launcher.signals.map(({ signal }) => signal),
    [15, 18],
  );
});

test('[J13] a full disk holds back no cancel, but its report', async () => {
  await running();
  world.launcher.trapsTerm.add(1);
  world.journal.isFull = true;
  world.head.order({ kind: 'end', epochId: ID, graceMs: 5000, why: 'cancelled' });
  await world.clock.settle();
  assert.equal(world.launcher.signals.length, 2);
  await world.clock.advance(5100);
  assert.equal(world.launcher.signals.at(-2)?.signal, 9);
  // Over a new session too: what is not written is not said.
  world.head.cut();
  await world.clock.advance(5000);
  assert.equal(world.head.hellos.length, 2);
  assert.equal(world.head.endOf(ID), undefined);
  world.journal.isFull = false;
  await world.clock.advance(1000);
  assert.equal(world.head.endOf(ID)?.cause, 'ended');
});

test('an end is written into the reserve and reported while the disk is full', async () => {
  await running();
  world.journal.isFull = true;
  world.journal.reserveBytes = 100_000;
  world.launcher.exit(1, { code: 3 });
  await world.clock.settle();
  assert.deepEqual(world.head.endOf(ID)?.processes, [{ rank: 0, exit: { code: 3 } }]);
  assert.equal(world.agent?.state.epochs.size, 0);
});

test('the outage is said once, and so is its end', async () => {
  await running();
  world.journal.isFull = true;
  world.head.order({ kind: 'end', epochId: ID, graceMs: 5000, why: 'cancelled' });
  await world.clock.advance(10_000);
  world.journal.isFull = false;
  await world.clock.advance(2000);
  assert.deepEqual(
    world.complaints.filter((line) => line.includes('journal')),
    [
      'the journal cannot be written; until it can, tasks can only be ended',
      'the journal can be written again',
    ],
  );
});

test('[N16] the head hears of the full disk before it hears of a start that failed of it', async () => {
  world = new FakeWorld();
  await world.start();
  world.launcher.start = () => {
    throw new Error('ENOSPC: no space left on device, write');
  };
  world.diskFreeBytes = 0;
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  const said = world.head.received.map((message) =>
    message.kind === 'heartbeat' ? (message.fault ?? 'well') : message.kind,
  );
  const at = said.indexOf('disk full');
  assert.ok(at > 0 && at < said.indexOf('reports'), `${said}`);
});

test("a start that fails in the agent is a failed launch by the node's fault", async () => {
  world = new FakeWorld();
  await world.start();
  world.launcher.start = () => {
    throw new Error('the line to the launcher is broken');
  };
  world.head.order(launch(1, shell('x'), { processesPerNode: 2 }));
  await world.clock.advance(1000);
  const end = world.head.endOf(ID);
  assert.deepEqual([end?.cause, end?.nodeFault], ['launch_failed', true]);
  assert.match(end?.detail ?? '', /the line to the launcher is broken/);
});

test('[N16] a node on a full disk says so, refuses what comes, and takes work again by itself', async () => {
  world = new FakeWorld();
  await world.start();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  world.diskFreeBytes = 0;
  await world.clock.advance(1000);
  assert.equal(world.head.fault, 'disk full');
  world.head.order(launch(2, shell('x')), launch(1, shell('x')));
  await world.clock.settle();
  const { cause, nodeFault, detail } = world.head.endOf(idOf(2)) ?? {};
  assert.deepEqual([cause, nodeFault, detail], ['never_started', false, 'disk full']);
  assert.equal(world.head.endOf(ID), undefined);
  world.head.cut();
  await world.clock.advance(5000);
  assert.equal(world.head.hellos.at(-1)?.fault, 'disk full');
  // Not at the border: there, it would be full again within the second.
  world.diskFreeBytes = NODE_DISK_FREE_BYTES_MIN;
  await world.clock.advance(1000);
  assert.equal(world.head.fault, 'disk full');
  world.diskFreeBytes = 2 * NODE_DISK_FREE_BYTES_MIN;
  await world.clock.advance(1000);
  assert.equal(world.head.fault, undefined);
  world.head.order(launch(3, shell('x')));
  await world.clock.settle();
  assert.equal(world.launcher.started.length, 2);
});

test('[N16] the head hears of the full disk before it hears of an order refused for it', async () => {
  world = new FakeWorld();
  await world.start();
  world.journal.isFull = true;
  world.journal.reserveBytes = 100_000;
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  const said = world.head.received.map((message) =>
    message.kind === 'heartbeat' ? (message.fault ?? 'well') : message.kind,
  );
  assert.ok(said.indexOf('disk full') > 0, `${said}`);
  assert.ok(said.indexOf('disk full') < said.indexOf('reports'), `${said}`);
});
