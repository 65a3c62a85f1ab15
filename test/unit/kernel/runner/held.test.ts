// What a node says at a hello of how each start stands.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HeldState } from '../../../../src/kernel/model/orders.ts';
import { heldEpochs } from '../../../../src/kernel/runner/books.ts';
import { idOf, launch, shell } from '../agent/orders.ts';
import { exited, prepared, started, swept, World } from './world.ts';

const ID = idOf(7);

function stands(world: World): HeldState | undefined {
  return heldEpochs(world.state, 9000).find(({ epochId }) => epochId === ID)?.stands;
}

test('[S15] a start says since when it runs, and how it was told to stand', () => {
  const world = new World();
  world.feed({ kind: 'order', order: launch(7, shell('x')) }, prepared(ID));
  assert.equal(stands(world), undefined, 'it does not run yet');
  world.feed(started(1));
  const fresh = { at: 9000, startedAt: 1000, turnHeard: 0, turnTold: 0 };
  assert.deepEqual(stands(world), { ...fresh, suspended: false, storing: false });
  world.feed({ kind: 'order', order: { kind: 'suspend', epochId: ID, turn: 4 } });
  world.time = 3000;
  world.feed({ kind: 'process', event: { kind: 'stopped', launchId: 1 } });
  const stopped = { ...fresh, turnHeard: 4, turnTold: 1, suspended: true, storing: false };
  assert.deepEqual(stands(world), { ...stopped, turnedAt: 3000 }, 'its report is under way');
  world.feed({ kind: 'reports_acknowledged', upTo: 2 });
  assert.deepEqual(stands(world), stopped);
});

test('[S15] what has ended, and is not heard of, still says when it started', () => {
  const world = new World();
  world.feed({ kind: 'order', order: launch(7, shell('x')) }, prepared(ID));
  world.feed(started(1), exited(1, 0, 1500), swept(ID));
  assert.equal(stands(world)?.startedAt, 1000);
  world.feed({ kind: 'reports_acknowledged', upTo: 2 });
  assert.equal(stands(world), undefined);
});
