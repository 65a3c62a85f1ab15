// One node's future beside reservations that come, last, come again and are overstayed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobId, NodeName } from '../../../../src/kernel/model/ids.ts';
import { Lane, type Window } from '../../../../src/kernel/scheduler/room/lane.ts';
import type { Running } from '../../../../src/kernel/scheduler/room/pool.ts';
import { FOREVER, type Want } from '../../../../src/kernel/scheduler/room/profile.ts';
import { resources } from '../../../support/nodes.ts';
import { view } from '../../../support/snapshots.ts';

const N1 = 'n1' as NodeName;

function window(from: number, to: number, cpus: number | 'whole', id = 'r1'): Window {
  const share = cpus === 'whole' ? cpus : resources({ cpus });
  return {
    id,
    name: id,
    purpose: 'users',
    recurs: false,
    from,
    to,
    shares: new Map([[N1, share]]),
  };
}

function want(cpus: number, exclusive = false): Want {
  return { resources: resources({ cpus }), exclusive };
}

/** A node with 4 cpus, of which a task in r1 has `cpus` until the instant. */
function laneWithMember(windows: Window[], cpus: number, until: number): Lane {
  const taken = { resources: resources({ cpus }), startedAt: 0, walltimeMs: until };
  const member: Running = { jobId: 9 as JobId, index: 0, ...taken, reservation: 'r1' };
  const node = view({ name: 'n1', cpus: 4, used: { cpus } }, 1);
  return new Lane({ ...node, running: [member] }, windows, 0);
}

const EMPTY = view({ name: 'n1', cpus: 4 }, 1);

test('[R1] others use before a window what ends in time, and in it what it leaves', () => {
  const lane = new Lane(EMPTY, [window(100, 200, 3)], 0);
  assert.ok(lane.fits(want(4), null, 0, 100));
  assert.ok(!lane.fits(want(4), null, 0, 101));
  assert.ok(lane.fits(want(1), null, 0, FOREVER));
  assert.ok(!lane.fits(want(1, true), null, 0, 101));
  assert.equal(lane.earliest(want(4), null, 0, 101), 200);
});

test('[R1] a whole node leaves not even room for a request for nothing', () => {
  const lane = new Lane(EMPTY, [window(100, 200, 'whole')], 0);
  assert.ok(!lane.fits(want(0), null, 100, 101));
  assert.ok(lane.fits(want(4, true), 'r1', 100, 200));
});

test('[R2] the share of a reservation that comes again is there in each of its windows only', () => {
  const lane = new Lane(EMPTY, [window(100, 200, 2), window(300, 500, 3)], 0);
  assert.equal(lane.earliest(want(2), 'r1', 0, 100), 100);
  assert.equal(lane.earliest(want(3), 'r1', 0, 100), 300);
  assert.equal(lane.earliest(want(2), 'r1', 0, 150), 300);
  assert.equal(lane.earliest(want(0), 'r1', 201, 10), 300);
  assert.equal(lane.earliest(want(4), 'r1', 0, 10), FOREVER);
  assert.ok(!lane.fits(want(1), 'r2', 100, 200));
});

test('[R2] a member uses its share, and what it overstays is taken from everybody', () => {
  const lane = laneWithMember([window(0, 100, 3)], 2, 150);
  assert.ok(lane.fits(want(1), 'r1', 0, 100));
  assert.ok(!lane.fits(want(2), 'r1', 0, 100));
  assert.ok(lane.fits(want(1), null, 0, 100));
  assert.ok(!lane.fits(want(2), null, 0, 100));
  assert.equal(lane.earliest(want(2), null, 0, 10), 100);
  assert.equal(lane.earliest(want(3), null, 0, 10), 150);
});

test('[R2] a member of yesterday is in the way until the next window of the same', () => {
  const lane = laneWithMember([window(100, 200, 4)], 2, 150);
  assert.ok(lane.fits(want(2), null, 0, 100));
  assert.ok(!lane.fits(want(3), null, 0, 100));
  assert.ok(!lane.fits(want(3), 'r1', 100, 150));
  assert.ok(lane.fits(want(4), 'r1', 150, 200));
  assert.ok(lane.fits(want(4), null, 200, FOREVER));
});
