// An agent that may open no more files: it says so, and neither the task nor the node is to blame.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { Containment } from '../../../../src/kernel/ports/containment.ts';
import { FakeWorld } from './fake-world.ts';
import { idOf, launch, shell } from './orders.ts';

const WORDS = 'the agent has as many files open as it may (ulimit -n)';

let world = new FakeWorld();

afterEach(async () => {
  await world.kill();
});

/**
 * Has no limits to keep, and fails like a process at its limit of open files while it is told to.
 */
function lacking(): { isShort: boolean } {
  world = new FakeWorld();
  const short = { isShort: true };
  world.containment = {
    facts: 'none',
    limits: 'none',
    polled: true,
    fence: { holds: false, words: 'none' },
    acquire: () => {
      if (short.isShort) throw Object.assign(new Error('EMFILE: too many'), { code: 'EMFILE' });
      return null;
    },
    adopt: () => undefined,
    procs: () => [],
    isEmpty: () => true,
    kill: () => undefined,
    use: () => ({ outOfMemory: false, memoryPeakBytes: null }),
    memory: () => null,
    release: () => undefined,
    close: () => undefined,
  } satisfies Containment;
  return short;
}

test('[N23] a node that lacks open files says so, gives tasks back, and takes work again', async () => {
  const short = lacking();
  await world.start();
  world.head.order(launch(1, shell('x')));
  await world.clock.settle();
  const { cause, nodeFault, detail } = world.head.endOf(idOf(1)) ?? {};
  assert.deepEqual([cause, nodeFault, detail], ['never_started', false, WORDS]);
  assert.equal(world.head.fault, WORDS);
  short.isShort = false;
  await world.clock.advance(60_000);
  assert.equal(world.head.fault, undefined);
  world.head.order(launch(2, shell('x')));
  await world.clock.settle();
  assert.equal(world.head.endOf(idOf(2)), undefined, 'it runs');
});
